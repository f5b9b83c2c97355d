import type { RateLimitDetails } from '@carillon/contract';
import type { ActionError } from '@carillon/contract/actions';
import type { Logger } from 'pino';
import { AppError, ERROR_KINDS, fromDatabaseError } from '../errors.ts';
import type { QuotaExceeded } from '../limits/quotas.ts';

const success = false as const;

/**
 * What was thrown as the error object of the specification's "Server-action errors". Whatever is no refusal is logged
 * with its cause; it says so where the database is away, and else nothing of what it was.
 */
export function toActionError(error: unknown, log: Logger): ActionError {
  if (error instanceof AppError) return tellRefusal(error);
  const known = fromDatabaseError(error);
  if (known?.kind !== 'unauthenticated') log.error({ err: error }, 'action failed');
  if (known) return tellRefusal(known);
  return { success, error: 'Internal error', code: 'INTERNAL_ERROR' };
}

function tellRefusal({ kind, message, details }: AppError): ActionError {
  switch (kind) {
    case 'invalid':
      return { success, error: 'Validation error', details: details as Record<string, string[]> };
    case 'bad_request':
      return { success, error: 'Validation error', details: { input: [message] } };
    case 'unauthenticated':
      return { success, error: 'Unauthorized', code: ERROR_KINDS.unauthenticated.code };
    case 'forbidden':
    case 'not_admin':
      return { success, error: 'Forbidden', code: ERROR_KINDS.forbidden.code };
    case 'rate_limited':
      return tellLimit(details as RateLimitDetails);
    case 'over_quota':
      return {
        success,
        error: 'Quota exceeded',
        code: ERROR_KINDS.over_quota.code,
        message,
        details: details as unknown as QuotaExceeded,
      };
    case 'not_found':
      return { success, error: message, code: ERROR_KINDS.not_found.code };
    case 'conflict':
      return { success, error: message, code: ERROR_KINDS.conflict.code };
    case 'unavailable':
    case 'provider_failed':
      return { success, error: 'Service unavailable', code: ERROR_KINDS.unavailable.code, message };
  }
}

/** Specification "Rate-limit response headers": server actions use seconds. */
function tellLimit(details: RateLimitDetails): ActionError {
  const { retryAfter, reset } = details;
  const inSeconds = { ...details, reset: Math.ceil(reset / 1000) };
  return { success, error: 'Too many requests', code: ERROR_KINDS.rate_limited.code, retryAfter, details: inSeconds };
}
