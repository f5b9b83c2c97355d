import type { RateLimitDetails } from '@carillon/contract';
import type { ActionError } from '@carillon/contract/actions';
import type { Logger } from 'pino';
import { REFUSALS, Refusal } from '../errors.ts';
import { isAccountGone, isOutage } from '../http/failures.ts';
import type { Breach } from '../limits/quotas.ts';

const success = false as const;

/**
 * What was thrown as the error object of the specification's "Server-action errors". Whatever is no refusal is logged
 * with its cause; it says so where the database is away, and else nothing of what it was.
 */
export function tellError(error: unknown, log: Logger): ActionError {
  if (error instanceof Refusal) return tellRefusal(error);
  if (isAccountGone(error)) return tellRefusal(new Refusal('unauthenticated', 'This account is gone.'));
  log.error({ err: error }, 'action failed');
  if (isOutage(error)) {
    return tellRefusal(new Refusal('unavailable', 'The service is not available at this moment.'));
  }
  return { success, error: 'Internal error', code: 'INTERNAL_ERROR' };
}

function tellRefusal({ kind, message, details }: Refusal): ActionError {
  switch (kind) {
    case 'invalid':
      return { success, error: 'Validation error', details: details as Record<string, string[]> };
    case 'bad_request':
      return { success, error: 'Validation error', details: { input: [message] } };
    case 'unauthenticated':
      return { success, error: 'Unauthorized', code: REFUSALS.unauthenticated.code };
    case 'forbidden':
    case 'not_admin':
      return { success, error: 'Forbidden', code: REFUSALS.forbidden.code };
    case 'rate_limited':
      return tellLimit(details as RateLimitDetails);
    case 'over_quota':
      return {
        success,
        error: 'Quota exceeded',
        code: REFUSALS.over_quota.code,
        message,
        details: details as unknown as Breach,
      };
    case 'not_found':
      return { success, error: message, code: REFUSALS.not_found.code };
    case 'conflict':
      return { success, error: message, code: REFUSALS.conflict.code };
    case 'unavailable':
    case 'provider_failed':
      return { success, error: 'Service unavailable', code: REFUSALS.unavailable.code, message };
  }
}

/** Specification "Rate-limit response headers": server actions use seconds. */
function tellLimit(details: RateLimitDetails): ActionError {
  const { retryAfter, reset } = details;
  const inSeconds = { ...details, reset: Math.ceil(reset / 1000) };
  return { success, error: 'Too many requests', code: REFUSALS.rate_limited.code, retryAfter, details: inSeconds };
}
