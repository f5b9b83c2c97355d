import { stringEnum } from './primitives.ts';

interface ErrorCodeEntry {
  status: number;
  meaning: string;
  /** What a program does about it. */
  action: string;
}

/** The codes of errors over HTTP. A code keeps its meaning and its status; further codes may be added. */
export const ERROR_CODES = {
  VALIDATION_ERROR: {
    status: 400,
    meaning: 'A field or a query parameter is invalid',
    action: 'Correct the fields that `details` names',
  },
  INVALID_JSON: { status: 400, meaning: 'The body is not JSON in UTF-8', action: 'Correct how the body is written' },
  INVALID_CONTENT_TYPE: {
    status: 400,
    meaning: 'The `Content-Type` is not accepted here',
    action: 'Send `application/json`, or a multipart form for uploads',
  },
  BODY_TOO_LARGE: { status: 400, meaning: 'The body is larger than allowed', action: 'Send less' },
  INVALID_ADDRESS: {
    status: 400,
    meaning: 'The path is not valid percent-encoded UTF-8',
    action: 'Encode the path, for example with `encodeURIComponent`',
  },
  INVALID_REQUEST: { status: 400, meaning: 'The request cannot be read as HTTP', action: 'Correct the HTTP client' },
  RESET_TOKEN_INVALID: { status: 400, meaning: 'The reset token is unknown', action: 'Request a new link' },
  RESET_TOKEN_EXPIRED: { status: 400, meaning: 'The reset token is older than an hour', action: 'Request a new link' },
  RESET_TOKEN_USED: {
    status: 400,
    meaning: 'The reset token was used, or a newer one was requested',
    action: 'Use the newest link, or request another',
  },
  LINK_INVALID: {
    status: 400,
    meaning: 'The link of a confirmation mail is unknown, was used or has expired',
    action: 'Request a new link',
  },
  COUPON_EXPIRED: { status: 400, meaning: 'The coupon has expired', action: 'Use another coupon' },
  COUPON_ALREADY_USED: {
    status: 400,
    meaning: 'The caller has used the coupon before',
    action: 'Use another coupon',
  },
  COUPON_USED_UP: { status: 400, meaning: 'The coupon has no uses left', action: 'Use another coupon' },
  CREDENTIAL_REJECTED: {
    status: 400,
    meaning: 'The third-party tool rejects the key or token',
    action: 'Enter another key or token',
  },
  SIGN_IN_FAILED: {
    status: 400,
    meaning: 'Sign-in with a provider took too long, was refused or was started elsewhere',
    action: 'Start the sign-in again',
  },
  AUTH_REQUIRED: {
    status: 401,
    meaning: 'There is no session or secret, or it is not valid any more',
    action: 'Sign in, then repeat',
  },
  INVALID_CREDENTIALS: {
    status: 401,
    meaning: 'The e-mail address or the password is wrong',
    action: 'Ask for them again',
  },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    meaning: 'The password is right, and the account has a second factor',
    action: 'Send `details.ticket` with a code to `POST /api/auth/second-factor`, or sign in with a passkey',
  },
  FACTOR_REJECTED: {
    status: 401,
    meaning: 'The code, the recovery code or the passkey is wrong, or was used before',
    action: 'Ask for it again',
  },
  TICKET_INVALID: {
    status: 401,
    meaning: 'The ticket is unknown, was used, is older than 5 minutes, or had 5 codes',
    action: 'Sign in again',
  },
  INVALID_SIGNATURE: {
    status: 401,
    meaning: 'The signature of an inbound webhook is missing or wrong',
    action: 'Sign the exact bytes of the body with the secret',
  },
  QUOTA_EXCEEDED: {
    status: 402,
    meaning: 'A quota of the plan is exhausted, or the trial has ended',
    action: 'Wait until `details.resetAt`, or change the plan if it is null',
  },
  INSUFFICIENT_PERMISSIONS: {
    status: 403,
    meaning: 'The account may not do this',
    action: 'Use an account, or the admin key, that may',
  },
  MISSING_SCOPE: {
    status: 403,
    meaning: 'The API key does not have the scope of this endpoint',
    action: 'Send a key with the scope that `details.scope` names',
  },
  CONFIRMATION_REQUIRED: {
    status: 403,
    meaning: 'The session is older than 15 minutes, or the account has a second factor that was not given in them',
    action: 'Send the password, or the second factor, to `POST /api/auth/confirm`, then repeat',
  },
  SECOND_FACTOR_SETUP_REQUIRED: {
    status: 403,
    meaning: 'The installation asks for a second factor, and the account has none',
    action: 'Add a factor with `POST /api/user/factors/totp` or a passkey',
  },
  SESSION_REQUIRED: {
    status: 403,
    meaning: 'API keys cannot do this',
    action: 'Sign in, and send the session',
  },
  ACCOUNT_DEACTIVATED: { status: 403, meaning: 'The account is deactivated', action: 'Ask an administrator' },
  CROSS_SITE_REQUEST: {
    status: 403,
    meaning: 'A browser sent the request from another site',
    action: 'Send a bearer token instead of the cookie',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'The resource does not exist, or belongs to another user',
    action: 'Check the id; it may have been deleted',
  },
  UNKNOWN_ENDPOINT: { status: 404, meaning: 'No endpoint has this path and method', action: 'Check both' },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The request took too long to arrive', action: 'Repeat it' },
  CONFLICT: {
    status: 409,
    meaning: 'The state of a resource does not allow this, for example an e-mail address that is registered',
    action: 'Read the resource again, then decide',
  },
  REQUEST_IN_PROGRESS: {
    status: 409,
    meaning: 'The first request with this `Idempotency-Key` is not answered yet',
    action: 'Repeat after `Retry-After` seconds with the same key',
  },
  PRECONDITION_FAILED: {
    status: 412,
    meaning: 'The resource is not, or is no longer, as the ETags of `If-Match` say; nothing was changed',
    action: 'Read the resource again, then decide',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    meaning: 'The `Idempotency-Key` was sent with another body before',
    action: 'Use a new key for another request',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    meaning: 'Too many requests',
    action: 'Repeat after `Retry-After` seconds',
  },
  HEADERS_TOO_LARGE: { status: 431, meaning: 'The headers are larger than allowed', action: 'Send fewer headers' },
  INTERNAL_ERROR: {
    status: 500,
    meaning: 'A fault of the service',
    action: 'Check whether it was carried out; give the operator the `X-Request-ID`',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'Maintenance, overload, shutdown, or an unavailable dependency',
    action: 'Repeat after `Retry-After` seconds',
  },
  AI_PROVIDER_FAILED: {
    status: 503,
    meaning: 'The AI provider failed: `details.errorCode` says how',
    action: 'Repeat only after a `Retry-After`; otherwise correct the cause first',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The schema of the header `X-Error-Code`. */
export const ErrorCodeName = stringEnum(Object.keys(ERROR_CODES) as ErrorCode[]);
