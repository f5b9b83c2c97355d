import { getHealth } from '@carillon/contract/health';
import type { Routes } from '../http/contract.ts';
import { VERSION } from '../version.ts';

/** Specification "Health". `uptime` is in whole seconds. Monitors that ask by HEAD are answered too. */
export const healthRoutes: Routes = async (app, { ctx }) => {
  const options = { schema: getHealth, config: { access: 'public', routine: true }, exposeHeadRoute: true } as const;
  app.get('/api/health', options, async () => ({
    status: 'ok',
    timestamp: ctx.now(),
    version: VERSION,
    uptime: Math.floor(process.uptime()),
  }));
};
