import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type FastifyBaseLogger, type FastifyHttpOptions, LogController, type RawServerDefault } from 'fastify';
import type { Context } from '../context.ts';
import { handleError } from './error-handler.ts';

/** How long a client may take, in milliseconds. */
export interface Timeouts {
  headersMs: number;
  requestMs: number;
  checkMs: number;
}

/**
 * Headers are small: 10 s. A whole request may be a task with 16 MiB of attachments: 120 s lets it through at
 * 1.2 Mbit/s, and a client that drips holds no more than one socket for that long.
 */
export const TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 120_000, checkMs: 1000 };

/**
 * How long a connection is kept for its next request. Longer than proxies keep theirs (nginx and most balancers 60 s), so
 * that it is they who close it: a request that is sent into a closing connection is lost.
 */
const KEEP_ALIVE_MS = 75_000;

export const BODY_LIMIT = 1024 * 1024;
/** For bodies that carry data URLs: task creation and change, `DELETE /api/upload` (decisions §4). */
export const LARGE_BODY_LIMIT = 16 * 1024 * 1024;

/** The options of the Fastify server. */
export function serverOptions({ config, log }: Context, patience: Timeouts): FastifyHttpOptions<RawServerDefault> {
  return {
    // All three together: any of them alone leaves a dripping client connected for minutes.
    http: {
      headersTimeout: patience.headersMs,
      requestTimeout: patience.requestMs,
      connectionsCheckingInterval: patience.checkMs,
    },
    requestTimeout: patience.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: 128 },
    // HEAD would run what a GET changes (the scheduler trigger); a route that wants it says so.
    exposeHeadRoutes: false,
    trustProxy: config.trustProxy === false ? false : [...config.trustProxy],
    return503OnClosing: false,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(reply, request.id);
      request.log.info({ method: request.method, status: 400 }, 'request');
      return handleError(error, request as never, reply as never);
    },
    clientErrorHandler(error, socket) {
      refuseMalformed(error, socket, log);
    },
  };
}

/** The caller's `X-Request-ID` where it is short and plain, so that it can stand in a log and a header; else a new one. */
export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
}

/** What every response carries. */
export function setCommonHeaders(reply: { header(name: string, value: string): unknown }, id: string): void {
  reply.header('x-request-id', id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('referrer-policy', 'no-referrer');
  reply.header('cache-control', 'no-store');
}

const MALFORMED: Record<string, [status: string, error: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'Request timeout'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Headers too large'],
};

/** Answers what is no HTTP request, where there is no request or reply to answer with. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex, log: Context['log']): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const id = randomUUID();
  const [status, label] = MALFORMED[error.code ?? ''] ?? ['400 Bad Request', 'Invalid request'];
  log.info({ requestId: id, code: error.code, status: Number.parseInt(status, 10) }, 'request');
  if (socket.writable) {
    const body = JSON.stringify({ success: false, error: label });
    const lines = [
      `HTTP/1.1 ${status}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-ID: ${id}`,
      'Connection: close',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  }
  socket.destroy();
}
