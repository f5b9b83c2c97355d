import {
  ANY_FIELD_LIMIT,
  OTHER_ENDPOINTS,
  PUBLIC_ENDPOINTS,
  type RateLimit,
  type Scope,
} from '../../platform/limits/rates.ts';
import type { Access } from '../../product/auth/guard.ts';

const COUNTED_BY: Record<Scope, string> = {
  user: 'per user',
  admin: 'per user',
  ip: 'per IP address',
  'ip+email': 'per IP address and e-mail address',
  'ip+token': 'per IP address and token',
};

/** The limit of a route as an extension of its operation; `headers.ts` reads it. */
export function describeRateLimit(rate: RateLimit | null | undefined): object {
  if (!rate) return {};
  const { limit, windowSeconds, scope } = rate;
  return { 'x-rate-limit': { limit, windowSeconds, scope } };
}

/** The limit of a route as a sentence for its description. */
export function rateLimitSentence(rate: RateLimit | null | undefined, access: Access | undefined): string {
  if (!rate) return access === 'cron' ? 'Not limited, except for wrong secrets.' : 'Not limited.';
  const { limit, windowSeconds, scope } = rate;
  const sentence = `Limit: ${limit} requests ${formatWindow(windowSeconds)} ${COUNTED_BY[scope]}`;
  if (rate === OTHER_ENDPOINTS || rate === PUBLIC_ENDPOINTS) {
    return `${sentence}, shared by all operations without a limit of their own.`;
  }
  if (scope === 'ip+email' || scope === 'ip+token') {
    return `${sentence}, and ${ANY_FIELD_LIMIT} a minute per IP address.`;
  }
  return `${sentence}.`;
}

function formatWindow(seconds: number): string {
  if (seconds === 60) return 'a minute';
  return seconds === 3600 ? 'an hour' : `in ${seconds / 60} minutes`;
}
