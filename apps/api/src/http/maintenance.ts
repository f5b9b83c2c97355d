import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { assertOpen, isMaintenance } from '../settings/maintenance.ts';

/** Decisions §4: what goes on in maintenance mode, so that admins can sign in and end it, and what is due stays due. */
const OPEN =
  /^\/($|api\/health(\/(live|ready))?$|api\/docs$|api\/docs\/|api\/cron\/|api\/auth\/(login|logout|session|oauth\/.*)$)/;

/** Whether a route is open to everybody in maintenance mode. */
export const staysOpen = ({ is404, routeOptions }: FastifyRequest): boolean =>
  is404 || OPEN.test(routeOptions.url ?? '');

/** Closes public routes in maintenance mode; the guard of access does it for the others, from what it knows already. */
export function closeForMaintenance(app: FastifyInstance, ctx: Context): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.access !== 'public' || staysOpen(request)) return done();
    isMaintenance(ctx)
      .then((isOn) => assertOpen(isOn, null))
      .then(() => done(), done);
  });
}
