import type { RateLimitDetails } from '@carillon/contract';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, accountDeleted, ERROR_KINDS, ERROR_MESSAGES } from '../errors.ts';
import { type ErrorResponse, isAccountDeleted, isOutage, toClientError } from './error-response.ts';

/**
 * What the errors of a route look like (specification "Envelope"): `standard` unless it says otherwise.
 * `valid` is `{valid: false, error}`, `authenticated` answers 401 with `{authenticated: false}`, and `bare` is `{error}`.
 */
export type ErrorShape = 'standard' | 'valid' | 'authenticated' | 'bare';

declare module 'fastify' {
  interface FastifyContextConfig {
    shape?: ErrorShape;
  }
}

/** Renders every refusal and every failure of the routes in the specification's envelopes. */
export function setErrorHandlers(app: FastifyInstance): void {
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(async (_request, reply) => answerUnknown(reply));
}

/** Answers a request that no route takes, before its body is read: whatever is wrong with that, it is 404. */
export function rejectUnknownRoutes(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) answerUnknown(reply);
    else done();
  });
}

const answerUnknown = (reply: FastifyReply) =>
  send(reply, 404, { success: false, error: 'Not found', message: 'There is no such endpoint.' });

/** Answers what was thrown. Whatever is no refusal and no mistake of the client is logged with its cause and told as 500. */
export function handleError(error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply) {
  const told =
    error instanceof AppError && error.kind === 'rate_limited' ? tellLimit(error, request, reply) : tell(error);
  logBug(error, told, request);
  tellRetry(error, told, reply);
  const { shape = 'standard', access } = request.routeOptions.config;
  return send(reply, told.status, toEnvelope(told, shape, access === 'public'));
}

/** The body of what was thrown, for an answer that has begun and can have no other status; logged as by `answerError`. */
export function toErrorBody(error: FastifyError | AppError, request: FastifyRequest): Record<string, unknown> {
  const told = tell(error);
  logBug(error, told, request);
  return toEnvelope(told, 'standard', false);
}

function logBug(error: FastifyError | AppError, { status }: ErrorResponse, request: FastifyRequest) {
  if (status >= 500 && !(error instanceof AppError)) request.log.error({ err: error }, 'request failed');
}

function tellRetry(error: FastifyError | AppError, { status }: ErrorResponse, reply: FastifyReply) {
  const seconds = error instanceof AppError ? error.retryAfterSeconds : undefined;
  // Only a provider knows when it will be back, and many of its failures no wait mends.
  const isKnown = seconds !== undefined || (error instanceof AppError && error.kind === 'provider_failed');
  if (seconds !== undefined) reply.header('retry-after', seconds);
  else if (status === 503 && !isKnown && !reply.hasHeader('retry-after')) reply.header('retry-after', '30');
}

/** Specification "Rate-limit response", with the `retryAfter` of its authentication variant. */
function tellLimit(error: AppError, request: FastifyRequest, reply: FastifyReply): ErrorResponse {
  const { limit, remaining, reset, retryAfter } = (error.details ?? {}) as Partial<RateLimitDetails>;
  const headers = {
    'retry-after': retryAfter,
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': reset,
  };
  // Said here as well: a verb may refuse for a limit that is not the route's.
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) reply.header(name, value);
  const isAuth = request.routeOptions.url?.startsWith('/api/auth/') === true;
  return { ...tell(error), ...(isAuth && retryAfter !== undefined ? { retryAfter } : {}) };
}

function tell(error: FastifyError | AppError): ErrorResponse {
  if (error instanceof AppError) {
    const { status, error: label } = ERROR_KINDS[error.kind];
    if (label === undefined)
      return { status, error: error.message, ...(error.details ? { details: error.details } : {}) };
    return { status, error: label, message: error.message, ...(error.details ? { details: error.details } : {}) };
  }
  const mistake = toClientError(error);
  if (mistake) return mistake;
  if (isAccountDeleted(error)) return { status: 401, error: 'Unauthorized', message: accountDeleted().message };
  if (isOutage(error)) {
    return { status: 503, error: 'Service unavailable', message: 'The service is not available at this moment.' };
  }
  return { status: 500, error: 'Internal server error', message: ERROR_MESSAGES.internal };
}

/** Exported for its test: the body of an error. */
export function toEnvelope(
  { status, ...told }: ErrorResponse,
  shape: ErrorShape,
  isPublic: boolean,
): Record<string, unknown> {
  const standard = { success: false, ...told };
  const text = REPLACED.has(told.error) ? (told.message ?? told.error) : told.error;
  // What every route shares looks the same everywhere: validation, quotas, limits of a user, maintenance.
  const shared = told.error === 'Validation error' || status === 402 || status === 503;
  switch (shape) {
    case 'authenticated':
      return status === 401 ? { authenticated: false } : standard;
    case 'valid':
      // Both words where the decisions ask for the one and the specification for the other.
      if (told.error === 'Validation error' || status === 503) return { valid: false, ...standard };
      return status === 400 ? { valid: false, error: text } : standard;
    case 'bare':
      if (shared || (!isPublic && (status === 401 || status === 429))) return standard;
      return status === 429 || status === 500 ? { error: told.error, message: told.message } : { error: text };
    default:
      return standard;
  }
}

/** Labels that say less than the message beside them. */
const REPLACED = new Set(['Unauthorized', 'Service unavailable']);

/** Past the route's response schemas, which would cut off what they do not name. */
function send(reply: FastifyReply, status: number, body: Record<string, unknown>) {
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(body);
}
