import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { addressKey, fieldKey, userKeyPrefix } from '../limits/keys.ts';
import {
  findRateLimit,
  getEffectiveLimit,
  isExempt,
  OTHER_ENDPOINTS,
  PUBLIC_ENDPOINTS,
  type RateLimit,
  type Scope,
  toAddressLimit,
} from '../limits/rates.ts';
import { recordRejection } from '../limits/rejections.ts';
import { type CountedRequest, type RateLimitState, type RateWindow, tooManyRequests } from '../limits/windows.ts';
import { type Counter, createRateLimitStore, toPluginKey } from './rate-limit-store.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Null for a route without a limit. */
    rate?: RateLimit | null;
  }
  interface FastifyRequest {
    counter: Counter | null;
  }
}

const POLICIES: Record<Scope, 'user' | 'ip' | 'endpoint'> = {
  user: 'user',
  admin: 'user',
  ip: 'ip',
  'ip+email': 'endpoint',
  'ip+token': 'endpoint',
};

/** For the guard, because the statement that finds the caller counts the request, under its key with the caller's id. */
export interface RateLimits {
  buildUserCount(request: FastifyRequest): CountedRequest;
  /** Sets the headers of a counted request; throws 429 beyond the limit. */
  checkUser(
    request: FastifyRequest,
    reply: FastifyReply,
    counted: CountedRequest & { window: RateWindow },
  ): Promise<void>;
  /** Counts by address; throws 429 beyond the limit. */
  countAnonymous(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Limits all routes registered later: by address on arrival, by e-mail or token once the body is read. */
export async function registerRateLimits(app: FastifyInstance, ctx: Context): Promise<RateLimits> {
  await app.register(rateLimit, { global: false, store: createRateLimitStore(ctx) });
  app.decorateRequest('counter', null);
  const checkers = new Map<string, ReturnType<FastifyInstance['createRateLimit']>>();

  function getChecker(rate: RateLimit) {
    const checker =
      checkers.get(rate.bucket) ??
      app.createRateLimit({
        max: getEffectiveLimit(ctx, rate),
        timeWindow: rate.windowSeconds * 1000,
        keyGenerator: ({ counter }) => toPluginKey(counter as Counter),
      });
    checkers.set(rate.bucket, checker);
    return checker;
  }

  /** Throws 429 beyond the limit; one of `userId` is recorded in the usage. */
  async function check(
    request: FastifyRequest,
    reply: FastifyReply,
    rate: RateLimit,
    counter: Counter,
    userId?: number,
  ) {
    request.counter = counter;
    const checked = await getChecker(rate)(request);
    if (checked.isAllowed) return;
    const { max: limit, remaining, ttl, isExceeded } = checked;
    const state = { limit, remaining, resetAt: new Date(counter.at.getTime() + ttl), isExceeded };
    setRateLimitHeaders(reply, rate, state);
    if (!isExceeded) return;
    const endpoint = `${request.method} ${request.routeOptions.url}`;
    await recordRejection(ctx, rate.bucket, userId === undefined ? undefined : { userId, endpoint });
    throw tooManyRequests(state, ctx.now());
  }

  const checkAddress = (request: FastifyRequest, reply: FastifyReply, rate: RateLimit) =>
    check(request, reply, rate, { key: addressKey(rate, request.ip), at: ctx.now() });

  app.addHook('onRoute', (route) => {
    const [method = ''] = [route.method].flat();
    route.config = { ...route.config, rate: findRateLimit(method, route.url, route.config?.access) };
  });
  app.addHook('onRequest', (request, reply, done) => {
    const rate = request.is404 ? findUnknownRouteLimit(request) : request.routeOptions.config.rate;
    const byAddress = rate && (hasField(rate) ? toAddressLimit(rate) : rate);
    if (byAddress?.scope !== 'ip') return done();
    checkAddress(request, reply, byAddress).then(() => done(), done);
  });
  app.addHook('preValidation', (request, reply, done) => {
    const { rate } = request.routeOptions.config;
    if (!rate || !hasField(rate)) return done();
    const key = fieldKey(rate, request.ip, request.body);
    check(request, reply, rate, { key, at: ctx.now() }).then(() => done(), done);
  });

  return {
    buildUserCount(request) {
      const rate = getUserLimit(request);
      return { key: userKeyPrefix(rate), windowMs: rate.windowSeconds * 1000, at: ctx.now() };
    },
    checkUser: (request, reply, counted) =>
      check(request, reply, getUserLimit(request), counted, request.callerOrNull?.id),
    countAnonymous: (request, reply) => checkAddress(request, reply, PUBLIC_ENDPOINTS),
  };
}

const hasField = ({ scope }: RateLimit) => scope === 'ip+email' || scope === 'ip+token';

const getUserLimit = ({ routeOptions }: FastifyRequest): RateLimit => routeOptions.config.rate ?? OTHER_ENDPOINTS;

function findUnknownRouteLimit({ method, url }: FastifyRequest): RateLimit | null {
  return isExempt(method, url.split('?', 1)[0] ?? '') ? null : PUBLIC_ENDPOINTS;
}

function setRateLimitHeaders(reply: FastifyReply, { scope, windowSeconds }: RateLimit, state: RateLimitState): void {
  reply.header('x-ratelimit-limit', state.limit);
  reply.header('x-ratelimit-remaining', state.remaining);
  reply.header('x-ratelimit-reset', state.resetAt.getTime());
  reply.header('x-ratelimit-window', windowSeconds);
  reply.header('x-ratelimit-policy', POLICIES[scope]);
}
