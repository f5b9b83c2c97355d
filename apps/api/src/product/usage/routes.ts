import * as contract from '@carillon/contract/accounts/usage';
import { type Routes, success } from '../../platform/http/validation.ts';
import { getUsage, listUsageAlerts } from './read.ts';
import { deleteUsageAlert, setUsageAlert } from './write.ts';

export const usageRoutes: Routes = async (app) => {
  const read = { access: 'user', scope: 'usage:read' } as const;
  const write = { access: 'user', scope: 'profile:write' } as const;

  app.get('/api/usage', { schema: contract.getUsage, config: read }, async ({ ctx, caller }) => ({
    success,
    usage: await getUsage(ctx, caller),
  }));

  app.post('/api/usage/alerts', { schema: contract.setUsageAlert, config: write }, async ({ ctx, caller, body }) => ({
    success,
    alert: await setUsageAlert(ctx, caller, body),
  }));

  app.get('/api/usage/alerts', { schema: contract.listUsageAlerts, config: read }, async ({ ctx, caller }) => ({
    success,
    alerts: await listUsageAlerts(ctx, caller),
  }));

  app.delete(
    '/api/usage/alerts/:id',
    { schema: contract.deleteUsageAlert, config: write },
    async ({ ctx, caller, params }) => {
      await deleteUsageAlert(ctx, caller, params.id);
      return { success, message: 'The alert is deleted.' };
    },
  );
};
