import type { PageRoutes } from '../../http/routes.ts';
import { showNotifications } from './list.ts';
import { readAllNotifications, readNotification } from './mark-read.ts';

export function notificationPages({ user }: PageRoutes): void {
  user('GET', '/notifications', showNotifications);
  user('POST', '/notifications/read-all', readAllNotifications);
  user('POST', '/notifications/:id/read', readNotification);
}
