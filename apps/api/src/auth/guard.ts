import { createHash, timingSafeEqual } from 'node:crypto';
import { API_KEY_SCOPES, type ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyTypeProvider,
  RawRequestDefaultExpression,
  RawServerBase,
  RouteGenericInterface,
} from 'fastify';
import type { Caller, CallerKey, Context } from '../context.ts';
import { AppError, ERROR_MESSAGES, missingScope, sessionRequired } from '../errors.ts';
import { countHeader, findBearer, findToken, type Token } from '../http/credentials.ts';
import { findClaimRequest } from '../http/idempotency/key.ts';
import type { RateLimits } from '../http/rate-limits.ts';
import { isRowId, type OwnedRow, type RowOf } from '../queries/owned-row.ts';
import { assertNotInMaintenance, isMaintenance, isOpenDuringMaintenance } from '../settings/maintenance.ts';
import type { Credentials } from './callers/caller-queries.ts';
import { findCaller } from './callers/find-caller.ts';
import { buildChallenge } from './keys/protected-resource.ts';
import { hashApiKey, isApiKey, isWellFormedApiKey } from './keys/secret.ts';

/**
 * Who may call a route; a route without it does not boot. Pages of the dashboard find the session by themselves. `key`: API
 * keys alone, as bearer tokens; the handler checks their scopes.
 */
export const ACCESS = ['public', 'user', 'cron', 'admin', 'page', 'key'] as const;
export type Access = (typeof ACCESS)[number];

type ReadAhead = (ctx: Context, userId: number, query: unknown) => Promise<unknown> | null;

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** What an API key needs; without it, the route takes none. */
    scope?: ApiKeyScope;
    /** Read with the session, by the parameter `id`, as `request.loaded`. */
    loads?: OwnedRow;
    /** Begun while the session is looked up, as `request.readAhead`, by the user of the token and the unchecked query. */
    readAhead?: ReadAhead;
  }
  interface FastifyRequest<
    RouteGeneric extends RouteGenericInterface,
    RawServer extends RawServerBase,
    RawRequest extends RawRequestDefaultExpression<RawServer>,
    SchemaCompiler extends FastifySchema,
    TypeProvider extends FastifyTypeProvider,
    ContextConfig,
  > {
    /** Throws on routes that are neither `user` nor `admin`. */
    caller: Caller;
    callerOrNull: Caller | null;
    /** Null if the caller has no such row. */
    loaded: ContextConfig extends { loads: infer O } ? RowOf<O> | null : unknown;
    /** Null with an API key, whose user is not known before, and for a query that it does not take. */
    readAhead: ContextConfig extends { readAhead: (...asked: never[]) => infer R } ? R : unknown;
  }
}

/** Throws 401 without a session or the right cron secret, 403 without the role or the admin key, 503 in maintenance. */
export function guardAccess(app: FastifyInstance, ctx: Context, limits: RateLimits): void {
  app.decorateRequest('callerOrNull', null);
  app.decorateRequest('loaded', null);
  app.decorateRequest('readAhead', null);
  app.decorateRequest('caller', {
    getter(this: FastifyRequest) {
      if (!this.callerOrNull) throw new Error(`${this.routeOptions.url} asks for a caller, but its access is public.`);
      return this.callerOrNull;
    },
  });
  app.addHook('onRoute', ({ method, url, config }) => {
    const access = config?.access;
    if (!access || !ACCESS.includes(access)) throw new Error(`${method} ${url} does not say who may call it.`);
    if (config.scope && !isScopeOf(access, config.scope)) throw new Error(`${method} ${url} has the wrong scope.`);
    // A row that is changed is read in the transaction of the change.
    const isRead = method === 'GET' || method === 'HEAD';
    const mayLoad = isRead && (access === 'user' || access === 'admin') && /\/:id(\/|$)/.test(url);
    if (config.loads && !mayLoad) throw new Error(`${method} ${url} cannot load a row of the caller.`);
  });
  app.addHook('onRequest', (request, reply, done) => {
    const { url = '', config } = request.routeOptions;
    if (request.is404 || config.access === 'page' || (config.access === 'public' && isOpenDuringMaintenance(url)))
      return done();
    guard(request, reply, config.access).then(() => done(), done);
  });

  async function guard(request: FastifyRequest, reply: FastifyReply, access: Access | undefined) {
    if (access === 'public') assertNotInMaintenance(await isMaintenance(ctx), null);
    else if (access === 'cron') await authenticateScheduler(request, reply);
    else await authenticateUser(request, reply, access);
  }

  async function authenticateScheduler(request: FastifyRequest, reply: FastifyReply) {
    if (isScheduler(request, ctx.config.cronSecret)) return;
    await limits.countAnonymous(request, reply);
    throw new AppError('unauthenticated', 'The scheduler secret is missing or wrong.');
  }

  async function authenticateUser(request: FastifyRequest, reply: FastifyReply, access: Access | undefined) {
    const token = findToken(request);
    const credentials = token && readCredentials(token, access);
    const count = limits.buildUserCount(request);
    const claim = findClaimRequest(request);
    const finding = credentials && findCaller(ctx, credentials, { count, load: getLoad(request), claim });
    if (finding) beginReadAhead(request, credentials, finding);
    const found = await finding;
    if (!found) {
      if (!isMistyped(token)) await limits.countAnonymous(request, reply);
      throw unauthenticated(request, reply, access);
    }
    const { caller, window, loaded, maintenance } = found;
    request.callerOrNull = caller;
    request.requester = found.requester;
    request.loaded = loaded;
    request.idempotencyClaim = found.claim;
    if (caller.apiKey) ctx.apiKeyUse.count(caller.apiKey.id, count.at);
    if (window) await limits.checkUser(request, reply, { ...count, window });
    if (maintenance && !isOpenDuringMaintenance(request.routeOptions.url ?? '')) assertNotInMaintenance(true, caller);
    if (access === 'admin') assertAdmin(request, ctx.config.adminKey);
    if (caller.apiKey && access !== 'key') assertScope(caller.apiKey, request.routeOptions.config.scope);
  }

  /** What is read before the session is known to exist leaves the process only afterwards. */
  function beginReadAhead(request: FastifyRequest, credentials: Credentials, finding: ReturnType<typeof findCaller>) {
    const { readAhead } = request.routeOptions.config;
    if (!readAhead || 'keyHash' in credentials) return;
    const { userId } = credentials;
    const position = ctx.db.replica && finding.then((found) => found?.requester?.position);
    position?.catch(() => {});
    const reading = readAhead({ ...ctx, requester: position && { userId, position } }, userId, request.query);
    reading?.catch(() => {});
    request.readAhead = reading;
  }

  function unauthenticated({ headers }: FastifyRequest, reply: FastifyReply, access: Access | undefined) {
    const isKey = access === 'key';
    const challenge = isKey ? buildChallenge(ctx.config, headers.authorization !== undefined) : 'Bearer';
    reply.header('www-authenticate', challenge);
    return new AppError('unauthenticated', isKey ? ERROR_MESSAGES.keyRequired : ERROR_MESSAGES.unauthenticated);
  }

  function readCredentials({ text, isBearer }: Token, access: Access | undefined): Credentials | null {
    if (!isApiKey(text)) return access === 'key' ? null : ctx.tokens.verify(text, ctx.now());
    return isBearer && isWellFormedApiKey(text) ? { keyHash: hashApiKey(text) } : null;
  }
}

const isScopeOf = (access: Access, scope: ApiKeyScope) =>
  scope in API_KEY_SCOPES && access === (scope === 'admin' ? 'admin' : 'user');

/** An API key whose checksum is wrong costs no statement, so it is not counted either. */
const isMistyped = (token: Token | null) =>
  token?.isBearer === true && isApiKey(token.text) && !isWellFormedApiKey(token.text);

function assertScope({ scopes }: CallerKey, scope: ApiKeyScope | undefined): void {
  if (scope === undefined) throw sessionRequired();
  if (!scopes.includes(scope)) throw missingScope(scope);
}

/** Returns null if the route loads no row or no row can have the id. */
function getLoad({ routeOptions, params }: FastifyRequest): { from: OwnedRow; id: number } | null {
  const { loads } = routeOptions.config;
  const { id } = params as { id?: string };
  return loads && isRowId(id) ? { from: loads, id: Number(id) } : null;
}

function isScheduler(request: FastifyRequest, secret: string): boolean {
  const given = countHeader(request, 'authorization') === 1 ? findBearer(request.headers.authorization) : null;
  return isSameSecret(given, secret);
}

function assertAdmin(request: FastifyRequest, adminKey: string): void {
  const key = request.headers['x-admin-key'];
  const isKey = isSameSecret(typeof key === 'string' ? key : null, adminKey);
  if (request.caller.role !== 'ADMIN' || !isKey) throw new AppError('not_admin', ERROR_MESSAGES.adminRequired);
}

/** Compares hashes, so that the time does not depend on the secret or its length. */
function isSameSecret(given: string | null, secret: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given ?? ''), digest(secret)) && given !== null && secret !== '';
}
