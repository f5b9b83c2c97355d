import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@carillon/contract';
import {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawServerDefault,
} from 'fastify';
import type { Context } from '../../context.ts';
import { answerUnknownRoute, handleError } from './error-handler.ts';

export interface Timeouts {
  headersMs: number;
  requestMs: number;
  checkMs: number;
}

/** A request with 16 MiB of attachments takes 120 s at 1.2 Mbit/s. */
export const TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 120_000, checkMs: 1000 };

/** Longer than proxies keep idle connections (60 s): a request that is sent into a closing connection is lost. */
const KEEP_ALIVE_MS = 75_000;

const BODY_LIMIT = 1024 * 1024;
/** For bodies with data URLs: task creation and change, `DELETE /api/upload`. */
export const LARGE_BODY_LIMIT = 16 * 1024 * 1024;

export function serverOptions({ config, log }: Context, timeouts: Timeouts): FastifyHttpOptions<RawServerDefault> {
  return {
    // Each of the three alone leaves a slow client connected for minutes.
    http: {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: timeouts.checkMs,
    },
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: 128 },
    trustProxy: config.trustProxy === false ? false : [...config.trustProxy],
    return503OnClosing: false,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: getRequestId,
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(reply, request.id);
      request.log.info({ method: request.method, status: 400 }, 'request');
      return handleError(error, request as never, reply as never);
    },
    clientErrorHandler(error, socket) {
      answerMalformed(error, socket, log);
    },
  };
}

/** Returns the caller's `X-Request-ID` if it is short and printable, or else a new id. */
function getRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
}

export function registerCommonHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(reply, request.id);
    done();
  });
}

function setCommonHeaders(reply: { header(name: string, value: string): unknown }, id: string): void {
  reply.header('x-request-id', id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('referrer-policy', 'no-referrer');
  reply.header('cache-control', 'no-store');
}

const MALFORMED: Record<string, [status: string, error: string, code: ErrorCode]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'Request timeout', 'REQUEST_TIMEOUT'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Headers too large', 'HEADERS_TOO_LARGE'],
};

/** Answers bytes that are not an HTTP request, for which Fastify has no reply. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex, log: Context['log']): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const id = randomUUID();
  const [status, label, code] = MALFORMED[error.code ?? ''] ?? [
    '400 Bad Request',
    'Invalid request',
    'INVALID_REQUEST',
  ];
  log.info({ requestId: id, code: error.code, status: Number.parseInt(status, 10) }, 'request');
  if (socket.writable) {
    const body = JSON.stringify({ success: false, error: label });
    const lines = [
      `HTTP/1.1 ${status}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-ID: ${id}`,
      `X-Error-Code: ${code}`,
      'Connection: close',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  }
  socket.destroy();
}

/**
 * Answers an unknown route with 404 before the body is read. `answerPage` may answer a browser with a page, and returns
 * whether it has.
 */
export function rejectUnknownRoutes(
  app: FastifyInstance,
  answerPage: (request: FastifyRequest, reply: FastifyReply) => boolean,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    if (!answerPage(request, reply)) answerUnknownRoute(reply);
  });
}
