import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Context } from '../context.ts';
import { AppError, ERROR_MESSAGES } from '../errors.ts';
import { countHeader, findBearer, findToken } from '../http/credentials.ts';
import type { RateLimits } from '../http/rate-limits.ts';
import { isRowId, type OwnedRows } from '../queries/owned-row.ts';
import { assertNotInMaintenance } from '../settings/maintenance.ts';
import { isOpenDuringMaintenance } from '../settings/maintenance-hook.ts';
import { findCaller, type Prefetch } from './sessions.ts';

/** Who may call a route; a route without the word does not boot. */
export const ACCESS = ['public', 'user', 'cron', 'admin'] as const;
export type Access = (typeof ACCESS)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** The route is for one row of the caller's, whose id is the parameter `id`: it is read when the caller is found. */
    reads?: OwnedRows;
  }
  interface FastifyRequest {
    /** The signed-in user; to be asked for on `user` and `admin` routes only, and a bug anywhere else. */
    caller: Caller;
    /** The same, or null where nobody is signed in. */
    callerOrNull: Caller | null;
  }
}

/**
 * Guards every route that is registered after it (specification "Authentication"). Refusals: 401 without a session or
 * with the wrong cron secret, 403 where the role or the admin key is missing, 503 in maintenance mode.
 */
export function guardAccess(app: FastifyInstance, ctx: Context, limits: RateLimits): void {
  app.decorateRequest('callerOrNull', null);
  app.decorateRequest('caller', {
    getter(this: FastifyRequest) {
      if (!this.callerOrNull) throw new Error(`${this.routeOptions.url} asks for a caller, but its access is public.`);
      return this.callerOrNull;
    },
  });
  app.addHook('onRoute', ({ method, url, config }) => {
    const access = config?.access;
    if (!access || !ACCESS.includes(access)) throw new Error(`${method} ${url} does not say who may call it.`);
    // What is changed is read in the transaction that changes it.
    const mayRead = method === 'GET' && access !== 'public' && access !== 'cron' && /\/:id(\/|$)/.test(url);
    if (config.reads && !mayRead) throw new Error(`${method} ${url} cannot have a row of the caller's read.`);
  });
  app.addHook('onRequest', (request, reply, done) => {
    const { access } = request.routeOptions.config;
    if (access === 'public' || request.is404) return done();
    const admitted = access === 'cron' ? admitScheduler(request, reply) : admitUser(request, reply, access === 'admin');
    admitted.then(() => done(), done);
  });

  async function admitScheduler(request: FastifyRequest, reply: FastifyReply) {
    if (isScheduler(request, ctx.config.cronSecret)) return;
    await limits.countStranger(request, reply);
    throw new AppError('unauthenticated', 'The scheduler secret is missing or wrong.');
  }

  async function admitUser(request: FastifyRequest, reply: FastifyReply, asAdmin: boolean) {
    const found = await findCaller(ctx, findToken(request), limits.hitBy(request), rowOf(request));
    if (!found) {
      await limits.countStranger(request, reply);
      reply.header('www-authenticate', 'Bearer');
      throw new AppError('unauthenticated', ERROR_MESSAGES.unauthenticated);
    }
    request.callerOrNull = found.caller;
    await limits.admit(request, reply, found.standing);
    if (found.maintenance && !isOpenDuringMaintenance(request.routeOptions.url ?? ''))
      assertNotInMaintenance(true, found.caller);
    if (asAdmin) assertAdmin(request, ctx.config.adminKey);
  }
}

/** The row that a request is for; null where its route reads none, or there can be none of such an id. */
function rowOf({ routeOptions, params }: FastifyRequest): Prefetch | null {
  const { reads } = routeOptions.config;
  const { id } = params as { id?: string };
  return reads && isRowId(id) ? { rows: reads, id: Number(id) } : null;
}

function isScheduler(request: FastifyRequest, secret: string): boolean {
  const given = countHeader(request, 'authorization') === 1 ? findBearer(request.headers.authorization) : null;
  return sameSecret(given, secret);
}

function assertAdmin(request: FastifyRequest, adminKey: string): void {
  const key = request.headers['x-admin-key'];
  const keyFits = sameSecret(typeof key === 'string' ? key : null, adminKey);
  if (request.caller.role !== 'ADMIN' || !keyFits) throw new AppError('not_admin', ERROR_MESSAGES.adminRequired);
}

/** Hashed first: the comparison takes equal lengths, and its time then tells nothing about the secret. */
function sameSecret(given: string | null, secret: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given ?? ''), digest(secret)) && given !== null && secret !== '';
}
