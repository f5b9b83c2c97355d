/**
 * What a verb may refuse, and how each door says it: the status of the specification's "Status codes" and the
 * code of its server-action errors. The set is closed; anything else that is thrown is a bug and answers 500.
 */
export const ERROR_KINDS = {
  invalid: { status: 400, error: 'Validation error', code: undefined },
  bad_request: { status: 400, error: undefined, code: undefined },
  unauthenticated: { status: 401, error: 'Unauthorized', code: 'AUTH_REQUIRED' },
  over_quota: { status: 402, error: 'Quota exceeded', code: 'QUOTA_EXCEEDED' },
  forbidden: { status: 403, error: undefined, code: 'INSUFFICIENT_PERMISSIONS' },
  not_admin: { status: 403, error: 'Unauthorized', code: 'INSUFFICIENT_PERMISSIONS' },
  not_found: { status: 404, error: undefined, code: 'NOT_FOUND' },
  conflict: { status: 409, error: undefined, code: 'CONFLICT' },
  rate_limited: { status: 429, error: 'Rate limit exceeded', code: 'RATE_LIMIT_EXCEEDED' },
  unavailable: { status: 503, error: 'Service unavailable', code: 'SERVICE_UNAVAILABLE' },
  provider_failed: { status: 503, error: 'AI provider failed', code: 'SERVICE_UNAVAILABLE' },
} as const;

/** Messages that several modules send, or that the OpenAPI document repeats. */
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
  /** When a repeat may help, where somebody has said so. */
  readonly retryAfterSeconds: number | undefined;

  /** `message` is shown to the caller; `details` too, so neither may hold a secret. */
  constructor(kind: ErrorKind, message: string, details?: Record<string, unknown>, retryAfterSeconds?: number) {
    super(message);
    this.name = 'AppError';
    this.kind = kind;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A validation error of one field, `details: {<field>: [message]}`. */
export const invalidField = (field: string, message: string) =>
  new AppError('invalid', ERROR_MESSAGES.invalid, { [field]: [message] });

/** A task that does not exist, or belongs to another user: the answer is the same. */
export const taskNotFound = () => new AppError('not_found', 'There is no such task.');

/** A stranger's execution is answered like one that does not exist. */
export const executionNotFound = () => new AppError('not_found', 'There is no such execution.');

/** The caller's account was deleted after the session was found. */
export const accountDeleted = () => new AppError('unauthenticated', 'This account has been deleted.');

export const accountDeactivated = () => new AppError('forbidden', 'This account has been deactivated.');
