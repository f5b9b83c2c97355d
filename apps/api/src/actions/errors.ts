import type { RateLimitDetails } from '@carillon/contract';
import type { ActionError } from '@carillon/contract/actions/index';
import type { Logger } from 'pino';
import { AppError, ERROR_KINDS, fromDatabaseError } from '../errors.ts';
import type { QuotaExceeded } from '../limits/quotas.ts';

const success = false as const;

/** The error object for anything that was thrown. Unexpected errors are logged with their cause, which is not revealed. */
export function toActionError(error: unknown, log: Logger): ActionError {
  if (error instanceof AppError) return fromAppError(error);
  const known = fromDatabaseError(error);
  if (known?.kind !== 'unauthenticated') log.error({ err: error }, 'action failed');
  if (known) return fromAppError(known);
  return { success, error: 'Internal error', code: 'INTERNAL_ERROR' };
}

function fromAppError({ kind, message, details }: AppError): ActionError {
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
      return toRateLimitError(details as RateLimitDetails);
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

/** Unlike over HTTP, `reset` is in seconds. */
function toRateLimitError(details: RateLimitDetails): ActionError {
  const { retryAfter, reset } = details;
  const inSeconds = { ...details, reset: Math.ceil(reset / 1000) };
  return { success, error: 'Too many requests', code: ERROR_KINDS.rate_limited.code, retryAfter, details: inSeconds };
}
