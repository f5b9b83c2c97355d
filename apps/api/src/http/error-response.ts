import { isDatabaseUnavailable } from '@carillon/db';
import { sqlState } from '../context.ts';

/** An error as it is told to the caller. */
export interface ErrorResponse {
  status: number;
  error: string;
  message?: string;
  details?: Record<string, unknown>;
  /** Seconds; beside the details where signing in is limited. */
  retryAfter?: number;
}

const TOLD: Record<string, ErrorResponse> = {
  FST_ERR_CTP_INVALID_JSON_BODY: { status: 400, error: 'Invalid JSON', message: 'The body is not valid JSON.' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 400,
    error: 'Invalid content type',
    message: 'Send the body with a Content-Type that this endpoint takes, such as application/json.',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: { status: 400, error: 'Body too large', message: 'The body is larger than allowed.' },
  FST_ERR_BAD_URL: { status: 400, error: 'Invalid address', message: 'The path is not valid percent-encoded UTF-8.' },
  FST_ERR_MAX_PARAM_LENGTH: { status: 404, error: 'Not found', message: 'There is no such endpoint.' },
};

/** The statuses of the specification's table that a plugin's own error may keep. */
const KNOWN = [400, 401, 403, 404, 409, 429];

/** What to tell of an error that Fastify or a plugin raised about the request; null when it is none. */
export function toClientError(error: { code?: unknown; statusCode?: unknown }): ErrorResponse | null {
  const told = typeof error.code === 'string' ? TOLD[error.code] : undefined;
  if (told) return told;
  const status = error.statusCode;
  if (typeof status !== 'number' || status < 400 || status > 499) return null;
  return {
    status: KNOWN.includes(status) ? status : 400,
    error: 'Invalid request',
    message: 'The request could not be read.',
  };
}

/** Whether a row was to be written for an account that was deleted since the request was let in. */
export function isAccountDeleted(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : null;
  const constraint = (cause as { constraint_name?: unknown } | null)?.constraint_name;
  return sqlState(error) === '23503' && typeof constraint === 'string' && constraint.endsWith('_user_id_users_id_fk');
}

/**
 * What the server says when it is no fault of the statement: connection trouble (08), resources (53), shutting down,
 * starting or cancelling (57), a lock or a turn that was not to be had in time, a standby that takes no writes.
 */
const OUTAGE = /^(08|53|57)...$|^(55P03|25P03|25006|40001|40P01)$/;

/** Whether an error, or what caused it, is the database being away or overrun rather than a bug. */
export function isOutage(error: unknown): boolean {
  return isDatabaseUnavailable(error) || OUTAGE.test(sqlState(error) ?? '');
}
