import type { FastifyInstance, InjectOptions } from 'fastify';
import { RATE_LIMITS, type RateLimit } from '../../src/platform/limits/rates.ts';
import { type Person, signUp } from './people.ts';

/** A row of the table by its name. */
export function getRateLimit(bucket: string): RateLimit {
  const row = RATE_LIMITS.find((rate) => rate.bucket === bucket);
  if (!row) throw new Error(`The table has no row ${bucket}.`);
  return row;
}

let callers = 0;

/** A caller that has made no request yet, with an account and an address. */
export interface CallerWithAddress extends Person {
  address: string;
}

export async function createCaller(
  app: FastifyInstance,
  { role }: { role?: 'ADMIN' } = {},
): Promise<CallerWithAddress> {
  callers += 1;
  const person = await signUp(app, { name: `Caller ${callers}`, email: `caller-${callers}@example.com`, role });
  return { ...person, address: `198.51.${callers >> 8}.${callers & 255}` };
}

/** A request under a row. Most are invalid or find nothing, and count all the same. */
export function buildLimitedRequest(
  { bucket, scope }: Pick<RateLimit, 'bucket' | 'scope'>,
  caller: CallerWithAddress,
): InjectOptions {
  const [method = '', path = ''] = bucket.split(' ');
  const isPublic = scope.startsWith('ip');
  const field = { 'ip+email': { email: caller.email }, 'ip+token': { token: 'not a token' } }[scope as string];
  return {
    method: (method === '*' ? 'GET' : method) as 'GET',
    url: path.replace('*', path.includes('integrations') ? 'notes' : '7').replace(/:\w+/g, '1999999999'),
    remoteAddress: caller.address,
    headers: isPublic ? {} : caller.headers,
    ...(method === 'POST' || method === 'PATCH' ? { payload: field ?? {} } : {}),
  };
}

export const getStatus = async (app: FastifyInstance, options: InjectOptions) => (await app.inject(options)).statusCode;

/** How many of `count` sequential requests are not answered with 429. */
export async function countAllowed(
  app: FastifyInstance,
  count: number,
  options: InjectOptions | ((i: number) => InjectOptions),
): Promise<number> {
  let passed = 0;
  for (let i = 0; i < count; i++) {
    if ((await getStatus(app, typeof options === 'function' ? options(i) : options)) !== 429) passed += 1;
  }
  return passed;
}
