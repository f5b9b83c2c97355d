import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type DestinationStream, type LoggerOptions, pino } from 'pino';
import type { Config } from '../config/config.ts';
import type { Context } from '../context.ts';
import { spanOfLine } from '../telemetry/active-span.ts';

/** Names in lower case; what they hold never reaches the log. */
const SECRETS = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'x-admin-key',
  'password',
  'newpassword',
  'currentpassword',
  'token',
  'secret',
  'apikey',
  'encryptedproviderkey',
  'modelrouterapikey',
  'prompt',
]);

/** How the process logs: JSON lines without secrets, errors without what PostgreSQL quotes of the data. */
export function loggerOptions({ logLevel, tracing }: Pick<Config, 'logLevel' | 'tracing'>): LoggerOptions {
  return {
    level: logLevel,
    ...(tracing && { mixin: spanOfLine }),
    // Pino's own redaction looks for each path anew: with these names at three depths it cost 38 µs a line, this 1 µs.
    formatters: { log: (fields) => redact(fields, 0) },
    serializers: {
      err: describeError,
      error: describeError,
      req: ({ method, routeOptions }: FastifyRequest) => ({ method, route: routeOptions?.url }),
      res: ({ statusCode }: FastifyReply) => ({ status: statusCode }),
    },
  };
}

/**
 * Standard output, written at the latest every 100 ms and at the end of the process: a write for each line costs as much
 * as the query that it tells of. A process that is killed takes its last lines with it.
 */
export const logDestination = (): DestinationStream =>
  pino.destination({ dest: 1, sync: false, minLength: 12_288, periodicFlush: 100 });

/** A copy without the secrets, four levels deep; instances of classes are left to the serializers. */
function redact(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    clean[name] = SECRETS.has(name.toLowerCase()) ? '[redacted]' : redactValue(value, depth);
  }
  return clean;
}

function redactValue(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return depth < 4 ? value.map((item) => redactValue(item, depth + 1)) : '[deep]';
  if (!isPlain(value)) return value;
  return depth < 4 ? redact(value, depth + 1) : '[deep]';
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Called by a machine every second or so: a success is logged at `debug` only. */
    routine?: boolean;
  }
}

/**
 * One line for each request, and the monitoring is told. The route's pattern, never its address: that may hold a token or
 * a webhook's secret.
 */
export function logRequests(app: FastifyInstance, { metrics }: Pick<Context, 'metrics'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, callerOrNull } = request;
    const { statusCode, elapsedTime } = reply;
    const route = request.is404 ? null : (routeOptions.url ?? null);
    metrics.requestAnswered({ method, route, statusCode, ms: elapsedTime });
    const level = routeOptions.config.routine && statusCode < 400 ? 'debug' : 'info';
    request.log[level](
      { method, route, status: statusCode, ms: Math.round(elapsedTime), userId: callerOrNull?.id },
      'request',
    );
    done();
  });
}

interface DescribedError {
  type: string;
  message?: string;
  code?: string;
  constraint?: string;
  stack?: string;
  cause?: DescribedError | string;
}

/**
 * An error for the log. Of a database error only code, constraint and stack: the messages of Drizzle and PostgreSQL
 * quote parameters, that is, prompts, addresses and hashes.
 */
export function describeError(error: unknown, depth = 0): DescribedError | string {
  if (!(error instanceof Error)) return typeof error;
  const { name, message, stack, cause, code, constraint_name } = error as Error & Record<string, unknown>;
  const ofDatabase = name === 'PostgresError' || 'query' in error || 'params' in error;
  return {
    type: error.constructor.name,
    ...(ofDatabase ? {} : { message: message.slice(0, 1000) }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof constraint_name === 'string' ? { constraint: constraint_name } : {}),
    ...(stack ? { stack: ofDatabase ? withoutMessage(stack, message) : stack } : {}),
    ...(cause === undefined || depth > 4 ? {} : { cause: describeError(cause, depth + 1) }),
  };
}

/** The frames of a stack, which begins with the message. */
function withoutMessage(stack: string, message: string): string {
  const at = stack.indexOf(message);
  return at === -1 ? '' : stack.slice(at + message.length).trim();
}
