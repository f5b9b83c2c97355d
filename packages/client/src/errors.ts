/** The base of every error of this package, except the reason of an abort, which is thrown as it is. */
export class CarillonError extends Error {
  override readonly name: string = 'CarillonError';
}

/** There is no response: the connection failed or ended too early. Whether the request was carried out is unknown. */
export class ConnectionError extends CarillonError {
  override readonly name = 'ConnectionError';
}

/** There was no complete response within `timeoutMs`. Whether the request was carried out is unknown. */
export class TimeoutError extends CarillonError {
  override readonly name = 'TimeoutError';
}

/** The response is not one of Carillon: a redirect, a web page, a malformed stream. */
export class InvalidResponseError extends CarillonError {
  override readonly name = 'InvalidResponseError';
}

/** Events are missing: those after the given id are no longer stored. */
export class EventsMissingError extends CarillonError {
  override readonly name = 'EventsMissingError';
}

export interface ErrorResponse {
  status: number;
  /** `X-Error-Code`: the codes are in the documentation. Null if the response has none, such as the response of a proxy. */
  code: string | null;
  /** `X-Request-ID`, under which the operator finds the request in the log. */
  requestId: string | null;
  details: unknown;
  retryAfterMs: number | null;
}

/** The response is an error. */
export class ApiError extends CarillonError implements ErrorResponse {
  override readonly name: string = 'ApiError';
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly details: unknown;
  readonly retryAfterMs: number | null;

  constructor(message: string, response: ErrorResponse) {
    super(message);
    this.status = response.status;
    this.code = response.code;
    this.requestId = response.requestId;
    this.details = response.details;
    this.retryAfterMs = response.retryAfterMs;
  }
}

/** 400: `details` has the messages by field. */
export class BadRequestError extends ApiError {
  override readonly name = 'BadRequestError';
  declare readonly details: Record<string, string[]> | undefined;
}

/** 401 */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError';
}

export interface ExceededQuota {
  resource: string;
  used: number | null;
  limit: number | null;
  resetAt: string | null;
}

/** 402 */
export class QuotaExceededError extends ApiError {
  override readonly name = 'QuotaExceededError';
  declare readonly details: ExceededQuota | undefined;
}

/** 403 */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError';
}

/** 404 */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}

/** 409 */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}

/** 412: the resource has changed since the response with the given ETag. Nothing has happened. */
export class PreconditionFailedError extends ApiError {
  override readonly name = 'PreconditionFailedError';
}

/** 422: an idempotency key was sent before, with another body. */
export class UnprocessableError extends ApiError {
  override readonly name = 'UnprocessableError';
}

/** 429 */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}

/** 408, 502, 503, 504: the service, or something in front of it, cannot answer now. */
export class UnavailableError extends ApiError {
  override readonly name = 'UnavailableError';
}

/** 500, and other statuses from 500. */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

const CLASSES: Record<number, typeof ApiError> = {
  400: BadRequestError,
  401: AuthenticationError,
  402: QuotaExceededError,
  403: PermissionError,
  404: NotFoundError,
  408: UnavailableError,
  409: ConflictError,
  412: PreconditionFailedError,
  422: UnprocessableError,
  429: RateLimitError,
  502: UnavailableError,
  503: UnavailableError,
  504: UnavailableError,
};

interface ErrorBody {
  error?: unknown;
  message?: unknown;
  details?: unknown;
}

/** Builds the error of a response; `body` is its parsed body, or undefined. */
export function buildApiError(
  body: unknown,
  { status, code, requestId, retryAfterMs }: Omit<ErrorResponse, 'details'>,
): ApiError {
  const { error, message, details } = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody;
  const text = [message, error].find((one) => typeof one === 'string' && one !== '');
  const ErrorClass = CLASSES[status] ?? (status >= 500 ? ServerError : ApiError);
  return new ErrorClass(
    `${text ?? `The server answered ${status} without an explanation.`}${listFields(status, details)}`,
    {
      status,
      code,
      requestId,
      details,
      retryAfterMs,
    },
  );
}

const listFields = (status: number, details: unknown): string =>
  status === 400 && typeof details === 'object' && details !== null
    ? ` (${Object.entries(details)
        .map(([field, messages]) => `${field}: ${messages}`)
        .join('; ')})`
    : '';
