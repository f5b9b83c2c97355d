import type { PageRoutes } from '../../http/routes.ts';
import { acknowledgeAlert, acknowledgeCause, requestConfirmation } from './acknowledge.ts';
import { showAlerts } from './alerts.ts';
import { showNotifications } from './list.ts';
import { readAllNotifications, readNotification } from './mark-read.ts';

export function notificationPages({ user }: PageRoutes): void {
  user('GET', '/alerts', showAlerts);
  user('POST', '/alerts/:id/acknowledge', acknowledgeAlert);
  user('POST', '/tasks/acknowledge', acknowledgeCause);
  user('GET', '/notifications', showNotifications);
  user('POST', '/notifications/confirm-address', requestConfirmation);
  user('POST', '/notifications/read-all', readAllNotifications);
  user('POST', '/notifications/:id/read', readNotification);
}
