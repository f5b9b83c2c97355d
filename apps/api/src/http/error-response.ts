import { violatedForeignKey } from '@carillon/db';
import { ERROR_MESSAGES } from '../errors.ts';

export { isOutage } from '@carillon/db';

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
  FST_ERR_BAD_URL: { status: 400, error: 'Invalid address', message: ERROR_MESSAGES.invalidPath },
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

/** Whether a row was written for an account that was deleted after the request was authenticated. */
export const isAccountDeleted = (error: unknown): boolean =>
  violatedForeignKey(error)?.endsWith('_user_id_users_id_fk') ?? false;
