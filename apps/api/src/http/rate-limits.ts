import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { addressKey, fieldKey, userKey } from '../limits/keys.ts';
import {
  addressOnly,
  findRateLimit,
  isExempt,
  OTHER_ENDPOINTS,
  PUBLIC_ENDPOINTS,
  type RateLimit,
  type Scope,
} from '../limits/rates.ts';
import { createRejectionRecorder } from '../limits/rejections.ts';
import {
  countHit,
  type Hit,
  hitOf,
  isExceeded,
  type RateLimitState,
  refuseHit,
  remainingOf,
} from '../limits/windows.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit of a route; null where it has none. */
    rate?: RateLimit | null;
  }
}

/** `X-RateLimit-Policy`: what tells two callers apart. */
const POLICIES: Record<Scope, 'user' | 'ip' | 'endpoint'> = {
  user: 'user',
  admin: 'user',
  ip: 'ip',
  'ip+email': 'endpoint',
  'ip+token': 'endpoint',
};

/** What the guard of access asks for, since a user's request is counted by the statement that finds the session. */
export interface RateLimits {
  /** How a request of a user is counted. */
  hitBy(request: FastifyRequest): (userId: number) => Hit;
  /** Tells a user where they stand after a request that has been counted; refuses it when it is over the limit. */
  admit(request: FastifyRequest, reply: FastifyReply, standing: RateLimitState): Promise<void>;
  /** Counts a request that nobody answers for, by its address. */
  countStranger(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/**
 * Limits every route that is registered after it (specification "Rate limits"; decisions §10), and unknown ones. By
 * address when a request arrives; by e-mail or token once its body is read and before it is validated. Each limited
 * response carries the specification's headers; beyond the limit it is refused as `rate_limited`.
 *
 * Not `@fastify/rate-limit`: it cannot count in the statement that finds the session, takes one limit for a request
 * where a sign-in has two, leaves unknown routes out, and its headers and body are not those of the specification.
 */
export function registerRateLimits(app: FastifyInstance, ctx: Context): RateLimits {
  const record = createRejectionRecorder(ctx);

  async function count(reply: FastifyReply, rate: RateLimit, key: string) {
    const standing = await countHit(ctx.db, hitOf(ctx, rate, key));
    showStanding(reply, rate, standing);
    if (isExceeded(standing)) throw refuseHit(ctx, rate, standing);
  }

  app.addHook('onRoute', (route) => {
    const [method = ''] = [route.method].flat();
    route.config = { ...route.config, rate: findRateLimit(method, route.url, route.config?.access) };
  });
  // Most routes are counted for their user: nothing is waited for there.
  app.addHook('onRequest', (request, reply, done) => {
    const rate = request.is404 ? rateOfUnknown(request) : request.routeOptions.config.rate;
    const byAddress = rate && (hasField(rate) ? addressOnly(rate) : rate);
    if (byAddress?.scope !== 'ip') return done();
    count(reply, byAddress, addressKey(byAddress, request.ip)).then(() => done(), done);
  });
  app.addHook('preValidation', (request, reply, done) => {
    const { rate } = request.routeOptions.config;
    if (!rate || !hasField(rate)) return done();
    count(reply, rate, fieldKey(rate, request.ip, request.body)).then(() => done(), done);
  });

  return {
    hitBy: (request) => (userId) => hitOf(ctx, rateOfUser(request), userKey(rateOfUser(request), userId)),
    async admit(request, reply, standing) {
      showStanding(reply, rateOfUser(request), standing);
      if (!isExceeded(standing)) return;
      const at = ctx.now();
      try {
        await record({ userId: request.caller.id, endpoint: `${request.method} ${request.routeOptions.url}`, at });
      } catch (error) {
        request.log.error({ err: error }, 'a 429 was not recorded');
      }
      throw refuseHit(ctx, rateOfUser(request), standing);
    },
    countStranger: (request, reply) => count(reply, PUBLIC_ENDPOINTS, addressKey(PUBLIC_ENDPOINTS, request.ip)),
  };
}

const hasField = ({ scope }: RateLimit) => scope === 'ip+email' || scope === 'ip+token';

const rateOfUser = ({ routeOptions }: FastifyRequest): RateLimit => routeOptions.config.rate ?? OTHER_ENDPOINTS;

function rateOfUnknown({ method, url }: FastifyRequest): RateLimit | null {
  return isExempt(method, url.split('?', 1)[0] ?? '') ? null : PUBLIC_ENDPOINTS;
}

/** Specification "Rate-limit response headers". */
function showStanding(reply: FastifyReply, { scope, windowSeconds }: RateLimit, standing: RateLimitState): void {
  reply.header('x-ratelimit-limit', standing.limit);
  reply.header('x-ratelimit-remaining', remainingOf(standing));
  reply.header('x-ratelimit-reset', standing.endsAt.getTime());
  reply.header('x-ratelimit-window', windowSeconds);
  reply.header('x-ratelimit-policy', POLICIES[scope]);
}
