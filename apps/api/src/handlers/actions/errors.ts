import { ERROR_CODES, type RateLimitDetails } from '@carillon/contract';
import type { ActionError } from '@carillon/contract/actions/index';
import type { Logger } from 'pino';
import { AppError, ERROR_KINDS, fromDatabaseError } from '../../errors.ts';

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
  switch (ERROR_CODES[ERROR_KINDS[kind].code].status) {
    case 400:
      return {
        success,
        error: 'Validation error',
        details: kind === 'invalid' ? (details as Record<string, string[]>) : { input: [message] },
      };
    case 401:
      if (kind === 'wrong_credentials' || kind === 'second_factor_required') {
        return { success, error: message, code: 'INVALID_CREDENTIALS' };
      }
      return { success, error: 'Unauthorized', code: 'AUTH_REQUIRED' };
    case 402:
      return { success, error: message, code: 'QUOTA_EXCEEDED' };
    case 403:
      return { success, error: 'Forbidden', code: 'INSUFFICIENT_PERMISSIONS' };
    case 404:
      return { success, error: message, code: 'NOT_FOUND' };
    case 409:
    case 412:
    case 422:
      return { success, error: message, code: 'CONFLICT' };
    case 429: {
      const { retryAfter } = details as RateLimitDetails;
      return { success, error: 'Too many requests', code: 'RATE_LIMIT_EXCEEDED', retryAfter };
    }
    case 503:
      return { success, error: message, code: 'SERVICE_UNAVAILABLE' };
  }
}
