import { ACTION_INPUTS } from '@carillon/contract/actions/index';
import { createWebhook, testWebhook } from '../../product/deliveries/webhooks/write.ts';
import type { ActionBuilder } from './create-action.ts';
import { readInput, readUuid } from './input.ts';
import { checkUrl } from './mappings.ts';

export const webhookActions = ({ user }: ActionBuilder) => ({
  createWebhook: user(
    'createWebhook',
    [readInput(ACTION_INPUTS.createWebhook, 'input', { url: checkUrl })],
    async ({ ctx, caller }, input) => {
      const { userId, createdAt, ...webhook } = await createWebhook(ctx, caller, input);
      return { ...webhook, userId: String(userId), createdAt: createdAt.toISOString() };
    },
  ),

  testWebhook: user('testWebhook', [readUuid], async ({ ctx, caller }, id) => {
    const { delivery } = await testWebhook(ctx, caller, id);
    const { webhookId, event, url, statusCode, responseTime, attempt, success, timestamp } = delivery;
    const attempted = { webhookId, event, url, statusCode, responseTime, attempt, success };
    return { id: delivery.id, ...attempted, timestamp: timestamp.toISOString() };
  }),
});
