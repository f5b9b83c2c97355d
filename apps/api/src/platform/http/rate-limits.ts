import rateLimit, { type FastifyRateLimitStore, type FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import {
  addressKey,
  fieldKey,
  findRateLimit,
  getEffectiveLimit,
  isExempt,
  PUBLIC_ENDPOINTS,
  type RateLimit,
  type Scope,
  toAddressLimit,
  userKey,
} from '../limits/rates.ts';
import { recordRejection } from '../limits/rejections.ts';
import { countRequest, tooManyRequests } from '../limits/windows.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The row of the table of limits; null for a route without a limit. */
    rate?: RateLimit | null;
  }
  interface FastifyRequest {
    /** The limit that the request has last counted towards, which its headers show. */
    limitedBy: RateLimit | null;
    isOverLimit: boolean;
  }
}

const POLICIES: Record<Scope, 'user' | 'ip' | 'endpoint'> = {
  user: 'user',
  admin: 'user',
  ip: 'ip',
  'ip+email': 'endpoint',
  'ip+token': 'endpoint',
};

/** Limits all routes registered later: by user or address on arrival, by e-mail or token once the body is read. */
export async function registerRateLimits(app: FastifyInstance, ctx: Context): Promise<void> {
  app.decorateRequest('limitedBy', null);
  app.decorateRequest('isOverLimit', false);
  // Before the hook of the plugin, which reads `rateLimit`.
  app.addHook('onRoute', (route) => {
    const [method = ''] = [route.method].flat();
    const access = route.config?.access;
    const rate = findRateLimit(method, route.url, access);
    route.config = { ...route.config, rate, rateLimit: rate !== null || access === 'cron' ? {} : false };
  });
  const max = (rate: RateLimit) => getEffectiveLimit(ctx, rate);
  const toError = (limit: number, ttl: number) =>
    tooManyRequests({ limit, remaining: 0, resetAt: new Date(ttl / 1000), isExceeded: true }, ctx.now());

  await app.register(rateLimit, {
    global: false,
    store: createStore(ctx),
    allowList: (request) => findArrivalLimit(request) === null,
    keyGenerator(request) {
      const rate = findArrivalLimit(request);
      request.limitedBy = rate;
      return rate === null ? '' : arrivalKey(rate, request);
    },
    max: (request) => max(request.limitedBy ?? PUBLIC_ENDPOINTS),
    timeWindow: (request) => toWindowMs(request.limitedBy ?? PUBLIC_ENDPOINTS),
    addHeaders: { 'retry-after': false },
    errorResponseBuilder: (_request, { max, ttl }) => toError(max, ttl),
    onExceeded(request) {
      request.isOverLimit = true;
    },
  });

  const limitUnknownRoute = app.rateLimit();
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) await limitUnknownRoute.call(app, request, reply);
  });

  const fieldLimiters = new Map<string, ReturnType<FastifyInstance['createRateLimit']>>();
  function limiterOf(rate: RateLimit) {
    const known = fieldLimiters.get(rate.bucket);
    const limiter =
      known ??
      app.createRateLimit({
        max: max(rate),
        timeWindow: toWindowMs(rate),
        keyGenerator: ({ ip, body }) => fieldKey(rate, ip, body),
        allowList: [],
      });
    fieldLimiters.set(rate.bucket, limiter);
    return limiter;
  }
  app.addHook('preValidation', async (request, reply) => {
    const { rate } = request.routeOptions.config;
    if (!rate || !hasField(rate)) return;
    const checked = await limiterOf(rate)(request);
    if (checked.isAllowed) return;
    request.limitedBy = rate;
    reply.header('x-ratelimit-limit', checked.max);
    reply.header('x-ratelimit-remaining', checked.remaining);
    reply.header('x-ratelimit-reset', checked.ttlInSeconds);
    request.isOverLimit = checked.isExceeded;
    if (checked.isExceeded) throw toError(checked.max, checked.ttl);
  });

  app.addHook('onSend', async (request, reply) => {
    const { limitedBy, callerOrNull, isOverLimit } = request;
    if (!limitedBy) return;
    reply.header('x-ratelimit-window', limitedBy.windowSeconds);
    reply.header('x-ratelimit-policy', POLICIES[limitedBy.scope]);
    if (!isOverLimit) return;
    const endpoint = `${request.method} ${request.routeOptions.url}`;
    await recordRejection(ctx, limitedBy.bucket, callerOrNull ? { userId: callerOrNull.id, endpoint } : undefined);
  });
}

/** What a request counts towards before its body is read: without the caller that its route needs, by address. */
function findArrivalLimit(request: FastifyRequest): RateLimit | null {
  if (request.is404) return isExempt(request.method, request.url.split('?', 1)[0] ?? '') ? null : PUBLIC_ENDPOINTS;
  if (request.isUnlimited) return null;
  const { access, rate = null } = request.routeOptions.config;
  if (access === 'cron' || (rate && isOfUser(rate) && !request.callerOrNull)) return PUBLIC_ENDPOINTS;
  return rate && hasField(rate) ? toAddressLimit(rate) : rate;
}

function arrivalKey(rate: RateLimit, { callerOrNull, ip }: FastifyRequest): string {
  return callerOrNull && isOfUser(rate) ? userKey(rate, callerOrNull.id) : addressKey(rate, ip);
}

const isOfUser = ({ scope }: RateLimit) => scope === 'user' || scope === 'admin';

const hasField = ({ scope }: RateLimit) => scope === 'ip+email' || scope === 'ip+token';

const toWindowMs = ({ windowSeconds }: RateLimit) => windowSeconds * 1000;

/** Counts in PostgreSQL, exact over any number of processes. */
function createStore({ db, now }: Pick<Context, 'db' | 'now'>): FastifyRateLimitStoreCtor {
  return class PostgresStore implements FastifyRateLimitStore {
    incr(key: string, callback: Parameters<FastifyRateLimitStore['incr']>[1], windowMs: number) {
      countRequest(db, { key, windowMs, at: now() }).then(
        // The plugin divides by 1000 for `X-RateLimit-Reset`, which is in milliseconds since the epoch here.
        ({ count, endsAt }) => callback(null, { current: count, ttl: endsAt.getTime() * 1000 }),
        (error) => callback(error, undefined as never),
      );
    }

    child() {
      return this;
    }
  };
}
