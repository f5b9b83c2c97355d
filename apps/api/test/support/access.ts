import type { FastifyInstance, InjectOptions } from 'fastify';
import type { Test } from 'tap';
import type { Person } from './people.ts';

/** Requires 401 without a valid session. */
export async function assertNeedsSession(t: Test, app: FastifyInstance, request: InjectOptions): Promise<void> {
  for (const headers of [{}, { authorization: 'Bearer nonsense' }, { cookie: 'local-session=nonsense' }]) {
    const answer = await app.inject({ ...request, headers });
    t.equal(answer.statusCode, 401);
    const { message, ...body } = answer.json();
    t.same(body, { success: false, error: 'Unauthorized' });
    t.match(message, /Sign in/);
  }
}

const NOT_ADMIN = {
  success: false,
  error: 'Unauthorized',
  message: 'Admin access required',
};

/** Requires 401 without a session and 403 for everyone but an admin who sends the admin key. */
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
