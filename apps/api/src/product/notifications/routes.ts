import * as contract from '@carillon/contract/accounts/notifications';
import * as alertsContract from '@carillon/contract/tasks/alerts';
import { type Routes, success } from '../../platform/http/validation.ts';
import { acknowledgeAlert } from './alerts/acknowledge.ts';
import { listAlerts } from './alerts/read.ts';
import { listNotifications } from './read.ts';
import { markRead } from './write.ts';

export const notificationsRoutes: Routes = async (app) => {
  app.get(
    '/api/notifications',
    { schema: contract.listNotifications, config: { access: 'user', scope: 'usage:read' } },
    async ({ ctx, caller, query }) => ({
      success,
      ...(await listNotifications(ctx, caller, query)),
    }),
  );

  app.post(
    '/api/notifications/:id/read',
    { schema: contract.readNotification, config: { access: 'user', scope: 'profile:write' } },
    async ({ ctx, caller, params }) => {
      await markRead(ctx, caller, params.id);
      return { success };
    },
  );
};

export const alertsRoutes: Routes = async (app) => {
  app.get(
    '/api/alerts',
    { schema: alertsContract.listAlerts, config: { access: 'user', scope: 'executions:read' } },
    async ({ ctx, caller, query }) => ({ success, ...(await listAlerts(ctx, caller, query)) }),
  );
  app.post(
    '/api/alerts/:id/acknowledge',
    { schema: alertsContract.acknowledgeAlert, config: { access: 'user', scope: 'executions:read' } },
    async ({ ctx, caller, params }) => ({ success, alert: await acknowledgeAlert(ctx, caller, params.id) }),
  );
};
