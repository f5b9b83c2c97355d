import { runScheduler } from '@carillon/contract/cron';
import { type Routes, success } from '../http/validation.ts';
import { tick } from './tick.ts';

export const cronRoutes: Routes = async (app, { ctx }) => {
  app.get(
    '/api/cron/scheduler',
    { schema: runScheduler, config: { access: 'cron', routine: true } },
    async (request, reply) => {
      const startedAt = performance.now();
      const wait = !/(^|[,\s])respond-async($|[,;\s])/i.test(request.headers.prefer ?? '');
      const result = await tick(ctx, { wait });
      reply.header('cache-control', 'no-store');
      return { success, ...result, duration: Math.round(performance.now() - startedAt) };
    },
  );
};
