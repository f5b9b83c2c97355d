import { requestConfirmationAgain } from '../../../product/notifications/addresses.ts';
import { listLatestNotifications } from '../../../product/notifications/read.ts';
import { markAllRead, markRead } from '../../../product/notifications/write.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const notificationActions = ({ signedIn }: WebActionBuilder) => ({
  listNotifications: signedIn('listNotifications', async ({ ctx, caller }, query) =>
    listLatestNotifications(ctx, caller, query),
  ),
  requestConfirmation: signedIn('requestConfirmation', async ({ ctx, caller }, { email }) => {
    await requestConfirmationAgain(ctx, caller, email);
    return null;
  }),
  readNotification: signedIn('readNotification', async ({ ctx, caller }, { id }) => {
    await markRead(ctx, caller, id);
    return null;
  }),
  readAllNotifications: signedIn('readAllNotifications', async ({ ctx, caller }, { until }) =>
    markAllRead(ctx, caller, until),
  ),
});
