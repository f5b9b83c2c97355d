import { type Static, Type } from '@sinclair/typebox';
import { EventKind } from './events.ts';
import { Id, Instant, nullable, Uuid, words } from './primitives.ts';

/** Specification "Webhook", "Webhook delivery log entry"; decisions §8. */

export const WebhookParams = Type.Object({ id: Uuid });

export const WEBHOOK_STATUSES = ['active', 'inactive', 'failed'] as const;
export const WebhookStatus = words(WEBHOOK_STATUSES);
export type WebhookStatus = Static<typeof WebhookStatus>;

export const WEBHOOK_PURPOSES = ['subscription', 'task', 'account'] as const;
export const WebhookPurpose = words(WEBHOOK_PURPOSES, {
  description: 'Made by `POST /api/webhooks`, or the `webhookUrl` of a task or of the settings',
});
export type WebhookPurpose = Static<typeof WebhookPurpose>;

export const Webhook = Type.Object(
  {
    id: Type.String(),
    userId: Id,
    purpose: WebhookPurpose,
    taskId: nullable(Type.Integer({ description: 'Whose `webhookUrl` it is' })),
    url: Type.String(),
    events: Type.Array(EventKind),
    description: nullable(Type.String()),
    isActive: Type.Boolean(),
    status: WebhookStatus,
    createdAt: Instant,
  },
  { $id: 'Webhook' },
);
export type Webhook = Static<typeof Webhook>;

/** An entry of the delivery log: one attempt. */
export const DeliveryAttempt = Type.Object(
  {
    id: Type.String(),
    deliveryId: Type.String({ description: 'What `webhook-id` carries: the same for each attempt of a delivery' }),
    webhookId: Type.String(),
    event: EventKind,
    url: Type.String(),
    statusCode: nullable(Type.Integer({ description: 'Null where there was no answer' })),
    responseTime: Type.Integer({ description: 'Milliseconds; 0 where there was no connection' }),
    attempt: Type.Integer(),
    success: Type.Boolean(),
    error: nullable(Type.String({ description: 'What to mend' })),
    timestamp: Instant,
  },
  { $id: 'DeliveryAttempt' },
);
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;
