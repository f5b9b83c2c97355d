import * as contract from '@carillon/contract/accounts/notifications';
import { type Routes, success } from '../../platform/http/validation.ts';
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
