import * as contract from '@carillon/contract/notifications';
import type { Routes } from '../http/validation.ts';
import { listNotifications } from './read.ts';
import { readNotification } from './write.ts';

const success = true as const;

/** What the dashboard shows a user (decisions §9). */
export const notificationsRoutes: Routes = async (app) => {
  const config = { access: 'user' } as const;

  app.get('/api/notifications', { schema: contract.listNotifications, config }, async ({ ctx, caller, query }) => ({
    success,
    ...(await listNotifications(ctx, caller, query)),
  }));

  app.post(
    '/api/notifications/:id/read',
    { schema: contract.readNotification, config },
    async ({ ctx, caller, params }) => {
      await readNotification(ctx, caller, params.id);
      return { success };
    },
  );
};
