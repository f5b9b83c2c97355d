import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';

/**
 * How late the event loop may be, in milliseconds, before requests are refused. A process that is merely busy is not
 * late by a tenth of it; one that is answers nobody in time, and does better to refuse most and serve the rest.
 */
export const MAX_EVENT_LOOP_DELAY_MS = 500;

const HEALTH = /^\/api\/health(\/|$)/;
const LOOK_EVERY_MS = 250;
/** A single pause is no overload: a large body, a garbage collection, a machine that was suspended. */
const LATE_IN_A_ROW = 3;

/**
 * Refuses as `unavailable` while the process cannot keep up (decisions §4, "Overload"), until it is back in time. Health
 * is answered all the same: a process that is busy is not one to be restarted. A database that cannot keep up refuses by
 * its own deadlines.
 *
 * Not `@fastify/under-pressure`: that one takes a single pause of a second for overload, and refuses everybody for the
 * next one.
 */
export function shedLoad(app: FastifyInstance, ctx: Context, longestDelayMs: number): void {
  let dueAt = performance.now() + LOOK_EVERY_MS;
  let lateInARow = 0;
  const timer = setTimeout(() => {
    const lateMs = performance.now() - dueAt;
    lateInARow = lateMs > longestDelayMs ? lateInARow + 1 : 0;
    if (lateInARow === LATE_IN_A_ROW) {
      ctx.log.warn({ eventLoopDelayMs: Math.round(lateMs) }, 'overloaded: requests are refused');
    }
    dueAt = performance.now() + LOOK_EVERY_MS;
    timer.refresh();
  }, LOOK_EVERY_MS).unref();

  app.addHook('onClose', async () => clearTimeout(timer));
  app.addHook('onRequest', (request, _reply, done) => {
    if (lateInARow < LATE_IN_A_ROW || HEALTH.test(request.routeOptions.url ?? '')) return done();
    done(new AppError('unavailable', 'The service is overloaded. Please try again shortly.'));
  });
}
