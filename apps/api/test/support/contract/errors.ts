import type { FastifyInstance, InjectOptions } from 'fastify';
import type { Test } from 'tap';
import type { Person } from '../people.ts';
import { assertNeedsSession } from '../tasks.ts';

const NOT_ADMIN = { success: false, error: 'Unauthorized', message: 'Admin access required' };

/** Nobody but an admin with the admin key gets past the door. */
export async function assertNeedsAdmin(
  t: Test,
  app: FastifyInstance,
  request: InjectOptions,
  { ada, alice }: { ada: Person; alice: Person },
): Promise<void> {
  await assertNeedsSession(t, app, request);
  const { authorization, 'x-admin-key': key } = ada.headers;
  for (const headers of [
    { authorization },
    { authorization, 'x-admin-key': '' },
    { authorization, 'x-admin-key': `${key}x` },
    alice.headers,
    { ...alice.headers, 'x-admin-key': key },
  ]) {
    const answer = await app.inject({ ...request, headers });
    t.equal(answer.statusCode, 403);
    t.same(answer.json(), NOT_ADMIN);
  }
}
