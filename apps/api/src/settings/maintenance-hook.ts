import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import type { Context } from '../context.ts';
import { assertNotInMaintenance, isMaintenance } from './maintenance.ts';

/** Decisions §4: what goes on in maintenance mode, so that admins can sign in and end it, and what is due stays due. */
const OPEN =
  /^\/($|api\/health(\/(live|ready))?$|api\/docs$|api\/docs\/|api\/cron\/|api\/auth\/(login|logout|session|oauth\/.*)$)/;

/** Whether a route is open to everybody in maintenance mode. */
export const isOpenDuringMaintenance = (url: string): boolean => OPEN.test(url);

/**
 * Closes the public routes that are registered after it in maintenance mode; the guard of access does it for the others,
 * from what it knows already.
 */
export function registerMaintenanceHook(app: FastifyInstance, ctx: Context): void {
  const refuse: onRequestAsyncHookHandler = async () => assertNotInMaintenance(await isMaintenance(ctx), null);
  app.addHook('onRoute', (route) => {
    if (route.config?.access !== 'public' || isOpenDuringMaintenance(route.url)) return;
    route.onRequest = [route.onRequest ?? [], refuse].flat();
  });
}
