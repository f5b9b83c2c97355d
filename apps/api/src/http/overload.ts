import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';

export const MAX_EVENT_LOOP_DELAY_MS = 500;

const HEALTH = /^\/api\/health(\/|$)/;
const CHECK_EVERY_MS = 250;
/** A large body or a garbage collection makes a single check late. */
const MIN_LATE_CHECKS = 3;

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
    if (lateChecks < MIN_LATE_CHECKS || HEALTH.test(request.routeOptions.url ?? '')) return done();
    done(new AppError('unavailable', 'The service is overloaded. Please try again shortly.'));
  });
}
