import type { FastifyInstance } from 'fastify';
import type { LoggerOptions } from 'pino';
import type { Config } from '../config.ts';

const SECRETS = [
  'authorization',
  'cookie',
  'set-cookie',
  'x-admin-key',
  'password',
  'newPassword',
  'currentPassword',
  'token',
  'secret',
  'apiKey',
  'encryptedProviderKey',
  'prompt',
];

/** How the process logs: JSON lines without secrets, errors without what PostgreSQL quotes of the data. */
export function loggerOptions({ logLevel }: Pick<Config, 'logLevel'>): LoggerOptions {
  const paths = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  return {
    level: logLevel,
    redact: { paths: paths.map((path) => path.replace(/\.?([a-z]+-[a-z-]+)$/, '["$1"]')), censor: '[redacted]' },
    serializers: { err: describeError, error: describeError },
  };
}

/** One line for each request. The route's pattern, never its address: that may hold a token or a webhook's secret. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, callerOrNull } = request;
    const ms = Math.round(reply.elapsedTime);
    request.log.info(
      {
        method,
        route: request.is404 ? null : routeOptions.url,
        status: reply.statusCode,
        ms,
        userId: callerOrNull?.id,
      },
      'request',
    );
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
