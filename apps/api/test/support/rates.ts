import type { FastifyInstance, InjectOptions } from 'fastify';
import type { Access } from '../../src/auth/guard.ts';
import { RATE_LIMITS, type RateLimit } from '../../src/limits/rates.ts';
import { routesOf } from './contract/conformance.ts';
import { type Person, signUp } from './people.ts';

/** Rows whose routes do not exist yet, with stand-ins for them. */
export const NOT_YET: Record<string, [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, access: Access][]> = {};

/** Adds the stand-ins of `NOT_YET` whose routes do not exist. */
export function standIns(app: FastifyInstance): void {
  // As a plugin it is loaded after the routes of the service.
  app.register(async (child) => {
    const served = new Set(routesOf(app).map(({ config }) => config?.rate?.bucket));
    for (const [bucket, routes] of Object.entries(NOT_YET)) {
      if (served.has(bucket)) continue;
      for (const [method, url, access] of routes) {
        child.route({ method, url, config: { access }, handler: async () => ({ success: true }) });
      }
    }
  });
}

/** A row of the table by its name. */
export function rowOf(bucket: string): RateLimit {
  const row = RATE_LIMITS.find((rate) => rate.bucket === bucket);
  if (!row) throw new Error(`The table has no row ${bucket}.`);
  return row;
}

let callers = 0;

/** A caller that has made no request yet, with an account and an address. */
export interface Stranger extends Person {
  address: string;
}

export async function newCaller(app: FastifyInstance, { role }: { role?: 'ADMIN' } = {}): Promise<Stranger> {
  callers += 1;
  const person = await signUp(app, { name: `Caller ${callers}`, email: `caller-${callers}@example.com`, role });
  return { ...person, address: `198.51.${callers >> 8}.${callers & 255}` };
}

/** A request under a row. Most are invalid or find nothing, and count all the same. */
export function requestOf({ bucket, scope }: Pick<RateLimit, 'bucket' | 'scope'>, caller: Stranger): InjectOptions {
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

export const statusOf = async (app: FastifyInstance, options: InjectOptions) => (await app.inject(options)).statusCode;

/** How many of `count` sequential requests are not answered with 429. */
export async function passing(
  app: FastifyInstance,
  count: number,
  options: InjectOptions | ((i: number) => InjectOptions),
): Promise<number> {
  let passed = 0;
  for (let i = 0; i < count; i++) {
    if ((await statusOf(app, typeof options === 'function' ? options(i) : options)) !== 429) passed += 1;
  }
  return passed;
}
