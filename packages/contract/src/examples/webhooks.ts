import type * as deliveries from '../webhooks/deliveries.ts';
import type * as inbound from '../webhooks/inbound.ts';
import type * as webhooks from '../webhooks/webhooks.ts';
import type { ExamplesFor } from './example.ts';
import {
  alice,
  attempt,
  CREATED,
  DELIVERY,
  executionQuotaExceeded,
  quotaExceeded,
  SECRET,
  success,
  task,
  WEBHOOK,
  webhook,
} from './fixtures.ts';

const params = { id: WEBHOOK };
const { url, events, description } = webhook;
const NOT_FOUND = { 404: 'Webhook not found' };
const NOT_ACTIVE = { 409: 'The webhook is not active. Activate it first.' };
const OF_A_TASK = { 409: 'This is the webhook of the task 42: change its `webhookUrl` there.' };
const NO_DELIVERY = { 404: 'Delivery not found' };
const inboundPath = { userId: String(alice.id), secret: SECRET };

export const webhooksExamples: ExamplesFor<typeof webhooks> &
  ExamplesFor<typeof deliveries> &
  ExamplesFor<typeof inbound> = {
  createWebhook: {
    body: { url, events, description },
    response: {
      201: {
        success,
        webhook: { id: WEBHOOK, userId: alice.id, url, secret: SECRET, events, isActive: true, createdAt: CREATED },
      },
    },
    errors: {
      402: quotaExceeded('webhooks', 3, 3),
      409: 'One of your webhooks already has this secret; their inbound URLs would be the same.',
    },
  },
  listWebhooks: {
    query: { limit: 20, offset: 0 },
    response: {
      200: { success, webhooks: [webhook], pagination: { total: 1, limit: 20, offset: 0, hasMore: false } },
    },
  },
  getWebhook: { params, response: { 200: { success, webhook } }, errors: NOT_FOUND },
  changeWebhook: {
    params,
    body: { isActive: false },
    response: { 200: { success, webhook: { ...webhook, isActive: false, status: 'inactive' } } },
    errors: { ...NOT_FOUND, ...OF_A_TASK },
  },
  deleteWebhook: {
    params,
    response: { 200: { success, message: 'The webhook is deleted.' } },
    errors: { ...NOT_FOUND, ...OF_A_TASK },
  },
  rotateSecret: {
    params,
    response: { 200: { success, webhook: { id: WEBHOOK, secret: SECRET } } },
    errors: NOT_FOUND,
  },
  testWebhook: {
    params,
    response: { 200: { success: true, delivery: { ...attempt, event: 'test' } } },
    errors: NOT_FOUND,
  },
  listDeliveries: {
    params,
    query: { limit: 50, offset: 0 },
    response: { 200: { success, logs: [attempt], pagination: { total: 1, limit: 50, offset: 0 } } },
    errors: NOT_FOUND,
  },
  getDeliveryAttempt: {
    params: { ...params, logId: attempt.id },
    response: { 200: { success, log: { ...attempt, deliveryId: DELIVERY, error: null } } },
    errors: { 404: 'Log entry not found' },
  },
  redeliver: {
    params: { ...params, deliveryId: DELIVERY },
    response: { 201: { success, deliveryId: DELIVERY } },
    errors: { ...NO_DELIVERY, ...NOT_ACTIVE },
  },
  redeliverSince: {
    params,
    body: { since: '2026-11-20T00:00:00Z' },
    response: { 200: { success, count: 2 } },
    errors: { ...NOT_FOUND, ...NOT_ACTIVE },
  },
  showInbound: {
    params: inboundPath,
    response: {
      200: {
        message: 'This webhook is active. Send signed JSON by POST.',
        userId: inboundPath.userId,
        webhookId: WEBHOOK,
        acceptedEvents: events,
        isActive: true,
      },
    },
    errors: { 404: 'Webhook not found or inactive' },
  },
  receiveInbound: {
    params: inboundPath,
    headers: { 'x-webhook-signature': `sha256=${'2f8a61c04b7d9e35'.repeat(4)}` },
    body: { event: 'report.ready', taskId: task.id, data: { report: 'weekly' } },
    response: { 200: { success, received: true }, 201: { success, executionId: 1210 } },
    errors: { 401: 'Invalid signature', 402: executionQuotaExceeded, 404: 'Webhook not found or inactive' },
  },
};
