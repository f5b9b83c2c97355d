import { listAlerts } from '../../../product/notifications/alerts/read.ts';
import type { WebActionBuilder } from './create-web-action.ts';

const PAGE = 25;

export const alertActions = ({ signedIn }: WebActionBuilder) => ({
  listAlerts: signedIn('listAlerts', async ({ ctx, caller }, query) => {
    const { alerts, pagination } = await listAlerts(ctx, caller, { ...query, limit: PAGE });
    return { alerts, nextCursor: pagination.nextCursor };
  }),
});
