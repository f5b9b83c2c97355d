import { invalidField } from '../../../../errors.ts';
import { redeliver, redeliverSince } from '../../../../product/deliveries/queue/redeliver.ts';
import {
  getDelivery,
  getWebhookForForm,
  listWebhookOverviews,
  showWebhook,
} from '../../../../product/deliveries/webhooks/overview.ts';
import { ownWebhook } from '../../../../product/deliveries/webhooks/read.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  rotateSecret,
  testWebhook,
} from '../../../../product/deliveries/webhooks/write.ts';
import { startOfDay } from '../../../../product/schedule/time-zone.ts';
import type { WebActionBuilder } from '../create-web-action.ts';

export const webhookActions = ({ signedIn }: WebActionBuilder) => ({
  listWebhooks: signedIn('listWebhooks', async ({ ctx, caller }, query) => listWebhookOverviews(ctx, caller, query)),
  getWebhook: signedIn('getWebhook', async ({ ctx, caller }, { id }) => getWebhookForForm(ctx, caller, id)),
  showWebhook: signedIn('showWebhook', async ({ ctx, caller }, query) => showWebhook(ctx, caller, query)),
  getDelivery: signedIn('getDelivery', async ({ ctx, caller }, path) => getDelivery(ctx, caller, path)),
  createWebhook: signedIn(
    'createWebhook',
    async ({ ctx, caller }, { id, ...input }) => {
      const { url, secret } = await createWebhook(ctx, caller, input, id);
      return { id, url, secret };
    },
    { as: 'POST /api/webhooks' },
  ),
  changeWebhook: signedIn('changeWebhook', async ({ ctx, caller }, { id, revision, ...input }) => {
    const { status } = await changeWebhook(ctx, caller, id, input, revision === undefined ? null : [revision]);
    return { id, status };
  }),
  rotateSecret: signedIn('rotateSecret', async ({ ctx, caller }, { id, secretVersion }) =>
    rotateSecret(ctx, caller, id, secretVersion),
  ),
  deleteWebhook: signedIn('deleteWebhook', async ({ ctx, caller }, { id }) => {
    await deleteWebhook(ctx, caller, id);
    return null;
  }),
  testWebhook: signedIn(
    'testWebhook',
    async ({ ctx, caller }, { id }) => (await testWebhook(ctx, caller, id)).delivery,
    { as: 'POST /api/webhooks/*/test' },
  ),
  redeliver: signedIn('redeliver', async ({ ctx, caller }, { id, deliveryId }) => {
    await redeliver(ctx, ownWebhook(caller, id), deliveryId);
    return null;
  }),
  redeliverSince: signedIn('redeliverSince', async ({ ctx, caller }, { id, day }) => {
    const since = startOfDay(caller.timezone ?? 'UTC', day);
    if (since === null) throw invalidField('day', 'must be a day');
    return { count: await redeliverSince(ctx, ownWebhook(caller, id), since) };
  }),
});
