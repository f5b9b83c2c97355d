import { Server as HttpServer } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The `Retry-After` of a 503: as long as the outage has lasted, from 1 s to 30 s. */
    nextRetryAfter(): number;
  }
}

const MAX_RETRY_SECONDS = 30;
export const MAX_EVENT_LOOP_DELAY_MS = 500;

const CHECK_EVERY_MS = 250;
/** A large body or a garbage collection makes a single check late. */
const MIN_LATE_CHECKS = 3;

/** Health routes are answered in every state of the process. */
const isHealthRoute = ({ routeOptions }: FastifyRequest): boolean =>
  /^\/api\/health(\/|$)/.test(routeOptions.url ?? '');

/** Throws `unavailable` while the event loop is late, except for health routes: a busy process must not restart. */
export function rejectUnderOverload(app: FastifyInstance, ctx: Context, maxDelayMs: number): void {
  let dueAt = performance.now() + CHECK_EVERY_MS;
  let lateChecks = 0;
  const timer = setTimeout(() => {
    const lateMs = performance.now() - dueAt;
    lateChecks = lateMs > maxDelayMs ? lateChecks + 1 : 0;
    if (lateChecks === MIN_LATE_CHECKS) {
      ctx.log.warn({ eventLoopDelayMs: Math.round(lateMs) }, 'overloaded: requests are refused');
    }
    dueAt = performance.now() + CHECK_EVERY_MS;
    timer.refresh();
  }, CHECK_EVERY_MS).unref();

  app.addHook('onClose', async () => clearTimeout(timer));
  app.addHook('onRequest', (request, _reply, done) => {
    if (lateChecks < MIN_LATE_CHECKS || isHealthRoute(request)) return done();
    done(new AppError('unavailable', 'The service is overloaded. Please try again shortly.'));
  });
}

/** Throws `unavailable` while the process waits for its database at its start, except for health routes. */
export function rejectUntilReady(app: FastifyInstance, ctx: Context): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (ctx.waitingFor === null || isHealthRoute(request)) return done();
    done(new AppError('unavailable', 'The service is starting. Please try again shortly.', undefined, 5));
  });
}

/** Makes `app.close()` answer requests on open connections, and close idle ones after `keepAliveGraceMs`. */
export function closeGracefully(app: FastifyInstance, keepAliveGraceMs: number): void {
  const { server } = app;
  let isClosing = false;
  let grace: NodeJS.Timeout | undefined;

  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // A kept connection would delay the end of the process by more than a minute.
    if (isClosing) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (_request, _reply, done) => {
    // An answer that began before the close has promised to keep its connection for the next request.
    grace?.refresh();
    done();
  });

  // Node's own close, which Fastify calls, destroys idle connections with the requests on their way.
  server.close = (done) => {
    grace = setTimeout(() => server.closeIdleConnections(), keepAliveGraceMs);
    server.once('close', () => {
      clearTimeout(grace);
      grace = undefined;
      // Stops Node's check of slow clients, which has to run until here.
      HttpServer.prototype.close.call(server);
    });
    NetServer.prototype.close.call(server, done);
    return server;
  };
}

/** An outage begins with the first 503 after a request of a user has succeeded. */
export function measureOutages(app: FastifyInstance, now: () => Date): void {
  let beganAt: number | null = null;
  app.decorate('nextRetryAfter', () => {
    const at = now().getTime();
    beganAt ??= at;
    return Math.min(Math.max(Math.ceil((at - beganAt) / 1000), 1), MAX_RETRY_SECONDS);
  });
  app.addHook('onResponse', async ({ routeOptions }, { statusCode }) => {
    if (statusCode < 400 && routeOptions.config.access !== 'public') beganAt = null;
  });
}
