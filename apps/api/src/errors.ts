import { isOutage, violatedForeignKey } from '@carillon/db/errors';

export const ERROR_KINDS = {
  invalid: { status: 400, label: 'Validation error', code: undefined },
  bad_request: { status: 400, label: undefined, code: undefined },
  unauthenticated: { status: 401, label: 'Unauthorized', code: 'AUTH_REQUIRED' },
  over_quota: { status: 402, label: 'Quota exceeded', code: 'QUOTA_EXCEEDED' },
  forbidden: { status: 403, label: undefined, code: 'INSUFFICIENT_PERMISSIONS' },
  not_admin: { status: 403, label: 'Unauthorized', code: 'INSUFFICIENT_PERMISSIONS' },
  not_found: { status: 404, label: undefined, code: 'NOT_FOUND' },
  conflict: { status: 409, label: undefined, code: 'CONFLICT' },
  rate_limited: { status: 429, label: 'Rate limit exceeded', code: 'RATE_LIMIT_EXCEEDED' },
  unavailable: { status: 503, label: 'Service unavailable', code: 'SERVICE_UNAVAILABLE' },
  provider_failed: { status: 503, label: 'AI provider failed', code: 'SERVICE_UNAVAILABLE' },
} as const;

export const ERROR_MESSAGES = {
  invalid: 'The request is not valid.',
  invalidPath: 'The path is not valid percent-encoded UTF-8.',
  unauthenticated: 'Sign in first: send the session cookie or a bearer token.',
  trialEnded: 'The trial has ended.',
  adminRequired: 'Admin access required',
  otherSite: 'This request comes from another site.',
  maintenance: 'The service is under maintenance. Please try again later.',
  internal: 'Something went wrong on our side.',
} as const;

export type ErrorKind = keyof typeof ERROR_KINDS;

export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;

  /** Callers see `message` and `details`: no secrets. */
  constructor(kind: ErrorKind, message: string, details?: Record<string, unknown>, retryAfterSeconds?: number) {
    super(message);
    this.name = 'AppError';
    this.kind = kind;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const invalidField = (field: string, message: string) =>
  new AppError('invalid', ERROR_MESSAGES.invalid, { [field]: [message] });

export const userNotFound = () => new AppError('not_found', 'User not found');

/** Also for another user's task. */
export const taskNotFound = () => new AppError('not_found', 'Task not found');

export const executionNotFound = () => new AppError('not_found', 'Execution not found');

/** For an account deleted after its session was found. */
export const accountDeleted = () => new AppError('unauthenticated', 'This account has been deleted.');

export const accountDeactivated = () => new AppError('forbidden', 'This account has been deactivated.');

/** Null unless the account was deleted meanwhile or the database is unavailable. */
export function fromDatabaseError(error: unknown): AppError | null {
  if (violatedForeignKey(error)?.endsWith('_user_id_users_id_fk')) return accountDeleted();
  return isOutage(error) ? new AppError('unavailable', 'The service is not available at this moment.') : null;
}
