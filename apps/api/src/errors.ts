import type { ErrorBody, ErrorCode } from '@carillon/contract';
import type { FileError } from '@carillon/contract/tasks/files';
import { toItemMessage } from '@carillon/contract/validation/unsafe-values';
import { isOutage, violatedForeignKey } from '@carillon/db/errors';
import type { Static } from '@sinclair/typebox';

/** `label` is the `error` of a body whose `message` is the message; without one, the message is the `error`. */
export const ERROR_KINDS = {
  invalid: { code: 'VALIDATION_ERROR', label: 'Validation error' },
  reset_token_invalid: { code: 'RESET_TOKEN_INVALID', label: undefined },
  reset_token_expired: { code: 'RESET_TOKEN_EXPIRED', label: undefined },
  reset_token_used: { code: 'RESET_TOKEN_USED', label: undefined },
  link_invalid: { code: 'LINK_INVALID', label: undefined },
  coupon_expired: { code: 'COUPON_EXPIRED', label: undefined },
  coupon_already_used: { code: 'COUPON_ALREADY_USED', label: undefined },
  coupon_used_up: { code: 'COUPON_USED_UP', label: undefined },
  credential_rejected: { code: 'CREDENTIAL_REJECTED', label: undefined },
  sign_in_failed: { code: 'SIGN_IN_FAILED', label: undefined },
  unauthenticated: { code: 'AUTH_REQUIRED', label: 'Unauthorized' },
  wrong_credentials: { code: 'INVALID_CREDENTIALS', label: undefined },
  second_factor_required: { code: 'SECOND_FACTOR_REQUIRED', label: 'Second factor required' },
  factor_rejected: { code: 'FACTOR_REJECTED', label: undefined },
  ticket_invalid: { code: 'TICKET_INVALID', label: undefined },
  wrong_signature: { code: 'INVALID_SIGNATURE', label: undefined },
  over_quota: { code: 'QUOTA_EXCEEDED', label: 'Quota exceeded' },
  forbidden: { code: 'INSUFFICIENT_PERMISSIONS', label: undefined },
  missing_scope: { code: 'MISSING_SCOPE', label: 'Missing scope' },
  session_required: { code: 'SESSION_REQUIRED', label: 'Session required' },
  not_confirmed: { code: 'CONFIRMATION_REQUIRED', label: undefined },
  factor_missing: { code: 'SECOND_FACTOR_SETUP_REQUIRED', label: undefined },
  not_admin: { code: 'INSUFFICIENT_PERMISSIONS', label: 'Unauthorized' },
  deactivated: { code: 'ACCOUNT_DEACTIVATED', label: undefined },
  cross_site: { code: 'CROSS_SITE_REQUEST', label: undefined },
  not_found: { code: 'NOT_FOUND', label: undefined },
  conflict: { code: 'CONFLICT', label: undefined },
  precondition_failed: { code: 'PRECONDITION_FAILED', label: 'Precondition failed' },
  request_in_progress: { code: 'REQUEST_IN_PROGRESS', label: 'Request in progress' },
  idempotency_key_reused: { code: 'IDEMPOTENCY_KEY_REUSED', label: 'Idempotency key reused' },
  rate_limited: { code: 'RATE_LIMIT_EXCEEDED', label: 'Rate limit exceeded' },
  unavailable: { code: 'SERVICE_UNAVAILABLE', label: 'Service unavailable' },
  provider_failed: { code: 'AI_PROVIDER_FAILED', label: 'AI provider failed' },
} as const satisfies Record<string, { code: ErrorCode; label: string | undefined }>;

export const ERROR_MESSAGES = {
  invalid: 'The request is not valid.',
  invalidPath: 'The path is not valid percent-encoded UTF-8.',
  unauthenticated: 'Sign in first: send the session cookie or a bearer token.',
  keyRequired: 'Send an API key as a bearer token. Create one in the settings, or with POST /api/keys.',
  trialEnded: 'The trial has ended.',
  changedMeanwhile: 'The resource has changed since this ETag. Fetch it again.',
  adminRequired: 'Admin access required',
  notConfirmed: 'Confirm with your password first.',
  factorNotConfirmed: 'Confirm with your second factor first.',
  factorMissing: 'This installation asks for a second factor: add one first.',
  sessionRequired: 'API keys cannot do this: sign in, and send the session.',
  otherSite: 'This request comes from another site.',
  maintenance: 'The service is under maintenance. Please try again later.',
  internal: 'Something went wrong on our side.',
} as const;

export type ErrorKind = keyof typeof ERROR_KINDS;

export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** What is wrong with a file. */
  readonly errors: readonly FileError[] | undefined;

  /** Callers see `message`, `details` and `errors`: no secrets. */
  constructor(
    kind: ErrorKind,
    message: string,
    details?: Record<string, unknown>,
    retryAfterSeconds?: number,
    errors?: readonly FileError[],
  ) {
    super(message);
    this.name = 'AppError';
    this.kind = kind;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
    this.errors = errors;
  }
}

/** The body of an error over HTTP. A validation error says everything in `details`. */
export function toErrorBody({ kind, message, details, errors }: AppError): Static<typeof ErrorBody> {
  const { label = message } = ERROR_KINDS[kind];
  return {
    success: false,
    error: label,
    ...(label !== message && kind !== 'invalid' && { message }),
    ...(details && { details }),
    ...(errors && { errors }),
  };
}

export const invalidField = (field: string, message: string) =>
  new AppError('invalid', ERROR_MESSAGES.invalid, { [field]: [message] });

/** Items are reported under the name of their list. */
export const invalidItem = (list: string, at: number, message: string) =>
  invalidField(list, toItemMessage(at, message));

export const userNotFound = () => new AppError('not_found', 'User not found');

export const missingScope = (scope: string) =>
  new AppError('missing_scope', `This API key does not have the scope ${scope}.`, { scope });

export const sessionRequired = () => new AppError('session_required', ERROR_MESSAGES.sessionRequired);

/** Also for another user's task. */
export const taskNotFound = () => new AppError('not_found', 'Task not found');

export const executionNotFound = () => new AppError('not_found', 'Execution not found');

export const preconditionFailed = () => new AppError('precondition_failed', ERROR_MESSAGES.changedMeanwhile);

export const accountDeleted = () => new AppError('unauthenticated', 'This account has been deleted.');

export const accountDeactivated = () => new AppError('deactivated', 'This account has been deactivated.');

/** Null unless the account was deleted in between or the database is unavailable. */
export function fromDatabaseError(error: unknown): AppError | null {
  if (violatedForeignKey(error)?.endsWith('_user_id_users_id_fk')) return accountDeleted();
  return isOutage(error) ? new AppError('unavailable', 'The service is not available at this moment.') : null;
}
