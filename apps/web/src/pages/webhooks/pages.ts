import type { PageRoutes } from '../../http/routes.ts';
import { switchWebhook, testWebhook } from './buttons.ts';
import { createWebhook, showNewWebhook } from './create.ts';
import { deleteWebhook, showDeleteWebhook } from './delete.ts';
import { redeliver, showDelivery } from './delivery.ts';
import { changeWebhook, showEditWebhook } from './edit.ts';
import { showWebhooks } from './list.ts';
import { redeliverSince, showRedeliverSince } from './redeliver-since.ts';
import { rotateSecret, showRotateSecret } from './rotate-secret.ts';
import { showWebhook } from './show.ts';

export function webhookPages({ user }: PageRoutes): void {
  user('GET', '/webhooks', showWebhooks);
  user('GET', '/webhooks/new', showNewWebhook);
  user('POST', '/webhooks/new', createWebhook);
  user('GET', '/webhooks/:id', showWebhook);
  user('GET', '/webhooks/:id/edit', showEditWebhook);
  user('POST', '/webhooks/:id/edit', changeWebhook);
  user('POST', '/webhooks/:id/switch', switchWebhook);
  user('POST', '/webhooks/:id/test', testWebhook);
  user('GET', '/webhooks/:id/rotate', showRotateSecret);
  user('POST', '/webhooks/:id/rotate', rotateSecret);
  user('GET', '/webhooks/:id/delete', showDeleteWebhook);
  user('POST', '/webhooks/:id/delete', deleteWebhook);
  user('GET', '/webhooks/:id/redeliver', showRedeliverSince);
  user('POST', '/webhooks/:id/redeliver', redeliverSince);
  user('GET', '/webhooks/:id/deliveries/:deliveryId', showDelivery);
  user('POST', '/webhooks/:id/deliveries/:deliveryId/redeliver', redeliver);
}
