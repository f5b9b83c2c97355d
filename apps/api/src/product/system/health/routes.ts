import { getHealth, getLiveness, getReadiness } from '@carillon/contract/health';
import { VERSION } from '../../../lib/config/config.ts';
import type { Routes } from '../../../platform/http/validation.ts';
import { createReadinessCheck } from './readiness.ts';

const probe = { config: { access: 'public', routine: true } } as const;

export const healthRoutes: Routes = async (app, { ctx }) => {
  const readReadiness = createReadinessCheck(ctx);

  app.get('/api/health', { schema: getHealth, ...probe }, async () => ({
    status: 'ok',
    timestamp: ctx.now(),
    version: VERSION,
    uptime: Math.floor(process.uptime()),
  }));

  app.get('/api/health/ready', { schema: getReadiness, ...probe }, async (_request, reply) => {
    const readiness = await readReadiness();
    return reply.code(readiness.status === 'ready' ? 200 : 503).send(readiness);
  });

  app.get('/api/health/live', { schema: getLiveness, ...probe }, async () => ({ status: 'live' as const }));
};
