import * as contract from '@carillon/contract/tasks/alerts';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { listAlerts } from './read.ts';

export const alertsRoutes: Routes = async (app) => {
  app.get(
    '/api/alerts',
    { schema: contract.listAlerts, config: { access: 'user', scope: 'executions:read' } },
    async ({ ctx, caller, query }) => ({ success, ...(await listAlerts(ctx, caller, query)) }),
  );
};
