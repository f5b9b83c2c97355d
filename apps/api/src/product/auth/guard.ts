import { API_KEY_SCOPES, type ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Context } from '../../context.ts';
import { AppError, ERROR_MESSAGES } from '../../errors.ts';
import { isSameSecret } from '../../lib/crypto/tokens.ts';
import { countHeader, findBearer, hasSeveralTokens } from '../../platform/http/credentials.ts';
import { type Authenticated, authenticate, type Credentials } from './authenticate.ts';
import {
  assertNotInMaintenance,
  authorize,
  isMaintenance,
  isOpenDuringMaintenance,
  isOpenWithoutFactor,
} from './authorize.ts';
import { assertConfirmed } from './confirm-session.ts';
import { buildChallenge } from './keys/protected-resource.ts';
import { hashApiKey, isAccessToken, isApiKey, isWellFormedApiKey } from './tokens.ts';

/**
 * Who may call a route; a route without it does not boot. Pages of the dashboard find the session by themselves. `key`: API
 * keys and tokens of connected apps, as bearer tokens; the handler checks their scopes.
 */
const ACCESS = ['public', 'user', 'cron', 'admin', 'page', 'key'] as const;
export type Access = (typeof ACCESS)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** What an API key needs; without it, the route takes none. */
    scope?: ApiKeyScope;
    /** What an API key needs besides. */
    alsoScope?: ApiKeyScope;
    /** Whether a session needs a sign-in, or the password, of the last 15 minutes. */
    needsConfirmation?: boolean;
  }
  interface FastifyRequest {
    /** Null on routes that are not `user`, `admin` or `key`, and for a request without a valid session or API key. */
    authenticated: Authenticated | null;
    /** Throws if nobody is authenticated. */
    caller: Caller;
    callerOrNull: Caller | null;
    /** Set for the scheduler, and for an API key whose checksum is wrong, which costs no statement. */
    isUnlimited: boolean;
  }
}

/** Finds the caller of each request, and refuses nothing: the rate limit comes first. */
export function authenticateRequests(app: FastifyInstance, ctx: Context): void {
  app.decorateRequest('authenticated', null);
  app.decorateRequest('isUnlimited', false);
  app.decorateRequest('callerOrNull', {
    getter(this: FastifyRequest) {
      return this.authenticated?.caller ?? null;
    },
  });
  app.decorateRequest('caller', {
    getter(this: FastifyRequest) {
      if (!this.authenticated) throw new Error(`${this.routeOptions.url} asks for a caller, but its access is public.`);
      return this.authenticated.caller;
    },
  });
  app.addHook('onRoute', ({ method, url, config }) => {
    const access = config?.access;
    if (!access || !ACCESS.includes(access)) throw new Error(`${method} ${url} does not say who may call it.`);
    if (config.scope && !isScopeOf(access, config.scope)) throw new Error(`${method} ${url} has the wrong scope.`);
  });
  app.addHook('onRequest', async (request) => {
    if (request.is404) return;
    const { access } = request.routeOptions.config;
    if (access === 'cron') request.isUnlimited = isScheduler(request, ctx.config.cronSecret);
    if (!needsCaller(access)) return;
    const credentials = await findCredentials(request, access);
    request.authenticated = credentials && (await authenticate(ctx, credentials));
    const { apiKey } = request.callerOrNull ?? {};
    if (apiKey) ctx.apiKeyUse.count(apiKey.id, ctx.now());
  });

  async function findCredentials(request: FastifyRequest, access: Access): Promise<Credentials | null> {
    if (hasSeveralTokens(request)) return null;
    const bearer = findBearer(request.headers.authorization);
    if (bearer !== null && isApiKey(bearer)) {
      request.isUnlimited = !isWellFormedApiKey(bearer);
      return request.isUnlimited ? null : { keyHash: hashApiKey(bearer) };
    }
    if (access === 'key') return bearer !== null && isAccessToken(bearer) ? { tokenHash: hashApiKey(bearer) } : null;
    // Every error of a token means that nobody is signed in.
    await request.jwtVerify({ clockTimestamp: ctx.now().getTime() }).catch(() => null);
    return request.user;
  }
}

/** Throws 401 without a session or the right cron secret, 403 without the role or the admin key, 503 in maintenance. */
export function authorizeRequests(app: FastifyInstance, ctx: Context): void {
  app.addHook('preParsing', async (request, reply) => {
    const { url = '', config } = request.routeOptions;
    const { access, scope, alsoScope, needsConfirmation } = config;
    const isOpen = isOpenDuringMaintenance(url);
    if (access === 'public' && !isOpen) assertNotInMaintenance(await isMaintenance(ctx), null);
    if (access === 'cron' && !request.isUnlimited) {
      throw new AppError('unauthenticated', 'The scheduler secret is missing or wrong.');
    }
    if (!needsCaller(access)) return;
    if (!request.authenticated) throw unauthenticated(request, reply, access);
    const hasAdminKey = access === 'admin' && isSameSecret(request.headers['x-admin-key'], ctx.config.adminKey);
    authorize(request.authenticated, {
      access,
      scope,
      alsoScope,
      isOpenDuringMaintenance: isOpen,
      isOpenWithoutFactor: isOpenWithoutFactor(url),
      hasAdminKey,
    });
    if (needsConfirmation && !request.caller.apiKey) assertConfirmed(ctx, request.caller);
  });

  function unauthenticated({ headers }: FastifyRequest, reply: FastifyReply, access: Access) {
    const isKey = access === 'key';
    const challenge = isKey ? buildChallenge(ctx.config, headers.authorization !== undefined) : 'Bearer';
    reply.header('www-authenticate', challenge);
    return new AppError('unauthenticated', isKey ? ERROR_MESSAGES.keyRequired : ERROR_MESSAGES.unauthenticated);
  }
}

/** Whether a route asks for a session or an API key. */
const needsCaller = (access: Access | undefined): access is 'user' | 'admin' | 'key' =>
  access === 'user' || access === 'admin' || access === 'key';

const isScopeOf = (access: Access, scope: ApiKeyScope) =>
  scope in API_KEY_SCOPES && access === (scope === 'admin' ? 'admin' : 'user');

function isScheduler(request: FastifyRequest, secret: string): boolean {
  const given = countHeader(request, 'authorization') === 1 ? findBearer(request.headers.authorization) : null;
  return isSameSecret(given, secret);
}
