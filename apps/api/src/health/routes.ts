import { getHealth, getLiveness, getReadiness } from '@carillon/contract/health';
import { VERSION } from '../config/version.ts';
import type { Routes } from '../http/validation.ts';
import { watchReadiness } from './readiness.ts';

/** Monitors that ask by HEAD are answered too. */
const watched = { config: { access: 'public', routine: true }, exposeHeadRoute: true } as const;

/** Specification "Health", `uptime` in whole seconds; and beside it what load balancers and supervisors ask. */
export const healthRoutes: Routes = async (app, { ctx }) => {
  const askReadiness = watchReadiness(ctx);

  app.get('/api/health', { schema: getHealth, ...watched }, async () => ({
    status: 'ok',
    timestamp: ctx.now(),
    version: VERSION,
    uptime: Math.floor(process.uptime()),
  }));

  app.get('/api/health/ready', { schema: getReadiness, ...watched }, async (_request, reply) => {
    const readiness = await askReadiness();
    return reply.code(readiness.status === 'ready' ? 200 : 503).send(readiness);
  });

  app.get('/api/health/live', { schema: getLiveness, ...watched }, async () => ({ status: 'live' as const }));
};
