import { listAudit as listAuditOperation } from '@carillon/contract/admin/audit';
import * as settingsContract from '@carillon/contract/admin/settings';
import { getStats as getStatsOperation } from '@carillon/contract/admin/stats';
import { runScheduler } from '@carillon/contract/cron';
import { getHealth, getLiveness, getReadiness } from '@carillon/contract/health';
import { VERSION } from '../../lib/config/config.ts';
import { type Routes, success } from '../../platform/http/validation.ts';
import { getSettings } from '../../platform/settings.ts';
import { listAudit } from './audit.ts';
import { createReadinessCheck } from './health/readiness.ts';
import { createCallRecorder } from './health/silent-scheduler.ts';
import { changeSecurity, changeSettings } from './settings.ts';
import { getStats } from './stats/read.ts';
import { tick } from './tick.ts';

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

export const settingsRoutes: Routes = async (app) => {
  const config = { access: 'admin', scope: 'admin' } as const;

  app.get('/api/admin/security', { schema: settingsContract.getSecurity, config }, async ({ ctx }) => {
    const { secondFactor } = await getSettings(ctx);
    return { success, secondFactor };
  });

  app.patch(
    '/api/admin/security',
    { schema: settingsContract.changeSecurity, config },
    async ({ ctx, caller, body }) => ({ success, ...(await changeSecurity(ctx, caller, body)) }),
  );

  app.get('/api/admin/settings', { schema: settingsContract.getSettings, config }, async ({ ctx }) => ({
    success,
    settings: await getSettings(ctx),
  }));

  app.patch(
    '/api/admin/settings',
    { schema: settingsContract.changeSettings, config },
    async ({ ctx, caller, body }) => {
      const after = await changeSettings(ctx, caller, body);
      const given = Object.fromEntries(Object.entries(after).filter(([name]) => name in body));
      return { success, settings: { ...given, updatedAt: after.updatedAt } };
    },
  );
};

export const auditRoutes: Routes = async (app) => {
  app.get(
    '/api/admin/audit',
    { schema: listAuditOperation, config: { access: 'admin', scope: 'admin' } },
    async ({ ctx, query }) => ({
      success,
      ...(await listAudit(ctx, query)),
    }),
  );
};

export const statsRoutes: Routes = async (app) => {
  app.get('/api/admin/stats', { schema: getStatsOperation, config: { access: 'admin', scope: 'admin' } }, ({ ctx }) =>
    getStats(ctx),
  );
};

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
