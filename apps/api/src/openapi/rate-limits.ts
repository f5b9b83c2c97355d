import type { Access } from '../auth/guard.ts';
import { ANY_FIELD_LIMIT, OTHER_ENDPOINTS, PUBLIC_ENDPOINTS, type RateLimit, type Scope } from '../limits/rates.ts';

const PER: Record<Scope, string> = {
  user: 'for each user',
  admin: 'for each user',
  ip: 'for each address',
  'ip+email': 'for each address and e-mail address',
  'ip+token': 'for each address and token',
};

/** The limit of a route as an extension of its operation, by which its responses get their headers. */
export function describeLimit(rate: RateLimit | null | undefined): object {
  if (!rate) return {};
  const { limit, windowSeconds, scope } = rate;
  return { 'x-rate-limit': { limit, windowSeconds, scope } };
}

/** The same in words, for the description of the operation. */
export function sayLimit(rate: RateLimit | null | undefined, access: Access | undefined): string {
  if (!rate) return access === 'cron' ? 'Not limited, but for wrong secrets.' : 'Not limited.';
  const { limit, windowSeconds, scope } = rate;
  const said = `Limit: ${limit} requests ${sayWindow(windowSeconds)} ${PER[scope]}`;
  if (rate === OTHER_ENDPOINTS || rate === PUBLIC_ENDPOINTS)
    return `${said}, together with all operations that have none of their own.`;
  if (scope === 'ip+email' || scope === 'ip+token') return `${said}, and ${ANY_FIELD_LIMIT} a minute for each address.`;
  return `${said}.`;
}

function sayWindow(seconds: number): string {
  if (seconds === 60) return 'a minute';
  return seconds === 3600 ? 'an hour' : `in ${seconds / 60} minutes`;
}
