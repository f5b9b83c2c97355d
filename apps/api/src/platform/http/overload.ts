import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';

export const MAX_EVENT_LOOP_DELAY_MS = 500;

const CHECK_EVERY_MS = 250;
/** A large body or a garbage collection makes a single check late. */
const MIN_LATE_CHECKS = 3;

/** Health routes are answered in every state of the process. */
export const isHealthRoute = ({ routeOptions }: FastifyRequest): boolean =>
  /^\/api\/health(\/|$)/.test(routeOptions.url ?? '');

/** Throws `unavailable` while the event loop is late, except for health routes: a busy process must not restart. */
export function shedLoad(app: FastifyInstance, ctx: Context, maxDelayMs: number): void {
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
export function refuseUntilStarted(app: FastifyInstance, ctx: Context): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (ctx.waitingFor === null || isHealthRoute(request)) return done();
    done(new AppError('unavailable', 'The service is starting. Please try again shortly.', undefined, 5));
  });
}
