import { runScheduler } from '@carillon/contract/cron';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { createCallRecorder } from '../health/silent-scheduler.ts';
import { tick } from './tick.ts';

export const cronRoutes: Routes = async (app, { ctx }) => {
  const config = { access: 'cron', routine: true } as const;
  const recordCall = createCallRecorder(ctx);

  // Only checks the secret, because a check by HEAD should run nothing.
  app.head('/api/cron/scheduler', { schema: { hide: true }, config }, async (_request, reply) => reply.send());

  app.get('/api/cron/scheduler', { schema: runScheduler, config, exposeHeadRoute: false }, async (request, reply) => {
    const startedAt = performance.now();
    const wait = !/(^|[,\s])respond-async($|[,;\s])/i.test(request.headers.prefer ?? '');
    await recordCall();
    const { nextDueAt, ...result } = await tick(ctx, { wait });
    if (nextDueAt) reply.header('x-next-due-at', nextDueAt.toISOString());
    return { success, ...result, duration: Math.round(performance.now() - startedAt) };
  });
};
