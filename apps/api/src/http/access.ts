import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_COOKIE } from '../auth/cookie.ts';
import { findCaller, type ReadAhead } from '../auth/sessions.ts';
import type { Caller, Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { isRowId, type OwnRows } from '../own-rows.ts';
import { assertOpen } from '../settings/maintenance.ts';
import { staysOpen } from './maintenance.ts';
import type { RateLimits } from './rate-limits.ts';

/** Who may call a route; a route without the word does not boot. */
export const ACCESS = ['public', 'user', 'cron', 'admin'] as const;
export type Access = (typeof ACCESS)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** The route is for one row of the caller's, whose id is the parameter `id`: it is read when the caller is found. */
    reads?: OwnRows;
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
    throw new Refusal('unauthenticated', 'The scheduler secret is missing or wrong.');
  }

  async function admitUser(request: FastifyRequest, reply: FastifyReply, asAdmin: boolean) {
    const found = await findCaller(ctx, findToken(request), limits.hitBy(request), rowOf(request));
    if (!found) {
      await limits.countStranger(request, reply);
      reply.header('www-authenticate', 'Bearer');
      throw new Refusal('unauthenticated', 'Sign in first: send the session cookie or a bearer token.');
    }
    request.callerOrNull = found.caller;
    await limits.admit(request, reply, found.standing);
    if (found.maintenance && !staysOpen(request.routeOptions.url ?? '')) assertOpen(true, found.caller);
    if (asAdmin) assertAdmin(request, ctx.config.adminKey);
  }
}

/** The row that a request is for; null where its route reads none, or there can be none of such an id. */
function rowOf({ routeOptions, params }: FastifyRequest): ReadAhead | null {
  const { reads } = routeOptions.config;
  const { id } = params as { id?: string };
  return reads && isRowId(id) ? { rows: reads, id: Number(id) } : null;
}

/**
 * The token of a request: the bearer token, else the session cookie. Null when there is none, and when there are
 * several, since the next reader of the request might pick another one.
 */
export function findToken(request: FastifyRequest): string | null {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined && countHeader(request, 'authorization') > 1) return null;
  const bearer = findBearer(authorization);
  if (bearer !== null) return bearer;
  const named = (cookie ?? '').split(';').filter((pair) => pair.trim().startsWith(`${SESSION_COOKIE}=`));
  return named.length === 1 ? (request.server.parseCookie(named.join())[SESSION_COOKIE] ?? null) : null;
}

/** Whether a request brings a bearer token, which counts before a cookie. */
export const isBearer = ({ headers }: FastifyRequest): boolean => findBearer(headers.authorization) !== null;

const findBearer = (authorization: string | undefined) => /^bearer +([^\s,]+)$/i.exec(authorization ?? '')?.[1] ?? null;

/** Node keeps the first of two such headers and drops the other without a word. */
const countHeader = ({ raw }: FastifyRequest, name: string) =>
  raw.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;

function isScheduler(request: FastifyRequest, secret: string): boolean {
  const given = countHeader(request, 'authorization') === 1 ? findBearer(request.headers.authorization) : null;
  return sameSecret(given, secret);
}

function assertAdmin(request: FastifyRequest, adminKey: string): void {
  const key = request.headers['x-admin-key'];
  const keyFits = sameSecret(typeof key === 'string' ? key : null, adminKey);
  if (request.caller.role !== 'ADMIN' || !keyFits) throw new Refusal('not_admin', 'Admin access required');
}

/** Hashed first: the comparison takes equal lengths, and its time then tells nothing about the secret. */
function sameSecret(given: string | null, secret: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given ?? ''), digest(secret)) && given !== null && secret !== '';
}
