import { getHealth } from '@carillon/contract/health';
import type { Routes } from '../http/contract.ts';
import { VERSION } from '../version.ts';

/** Specification "Health". `uptime` is in whole seconds. */
export const healthRoutes: Routes = async (app, { ctx }) => {
  app.get('/api/health', { schema: getHealth, config: { access: 'public' } }, async () => ({
    status: 'ok',
    timestamp: ctx.now(),
    version: VERSION,
    uptime: Math.floor(process.uptime()),
  }));
};
