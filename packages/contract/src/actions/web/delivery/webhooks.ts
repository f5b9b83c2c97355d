import { Type } from '@sinclair/typebox';
import { Cursor, Id, Instant, nullable, strictObject, stringEnum, Uuid } from '../../../primitives.ts';
import { EventKind } from '../../../webhooks/events.ts';
import {
  ChangeWebhookInput,
  CreateWebhookInput,
  DeliveryAttemptDetails,
  WebhookPurpose,
  WebhookStatus,
} from '../../../webhooks/webhooks.ts';
import { NoData, userAction } from '../define.ts';

const DeliveryStatus = stringEnum(['pending', 'sending', 'delivered', 'failed']);

const Webhook = {
  id: Type.String(),
  purpose: WebhookPurpose,
  taskId: nullable(Id),
  taskName: nullable(Type.String()),
  url: Type.String(),
  events: Type.Array(EventKind),
  description: nullable(Type.String()),
  status: WebhookStatus,
  createdAt: Instant,
};

const LatestDelivery = Type.Object({
  status: DeliveryStatus,
  attempt: Type.Integer({ description: 'The attempts so far' }),
  event: EventKind,
  createdAt: Instant,
});
const Latest = Type.Array(LatestDelivery, { description: 'The latest 30 deliveries, newest first' });

const Attempt = Type.Object({
  at: Instant,
  attempt: Type.Integer(),
  success: Type.Boolean(),
  statusCode: nullable(Type.Integer()),
  responseTimeMs: Type.Integer(),
  error: nullable(Type.String()),
});

const delivery = {
  id: Type.String(),
  event: EventKind,
  status: DeliveryStatus,
  attempt: Type.Integer(),
  createdAt: Instant,
  nextAttemptAt: nullable(Instant),
  attempts: Type.Array(Attempt, { description: 'Newest first' }),
};

const WebhookId = { id: Uuid };
const OfDelivery = { id: Uuid, deliveryId: Uuid };

export const webhookActions = {
  listWebhooks: userAction(
    strictObject({ cursor: Type.Optional(Cursor) }),
    Type.Object({
      webhooks: Type.Array(Type.Object({ ...Webhook, latest: Latest })),
      nextCursor: nullable(Type.String()),
    }),
  ),
  getWebhook: userAction(
    strictObject(WebhookId),
    Type.Object({ ...Webhook, revision: Type.Integer(), secretVersion: Type.String() }),
  ),
  showWebhook: userAction(
    strictObject({ ...WebhookId, cursor: Type.Optional(Cursor) }),
    Type.Object({
      webhook: Type.Object({
        ...Webhook,
        latest: Latest,
        previousSecretUntil: nullable(Instant),
        waiting: Type.Integer({ description: 'Of the latest 1,000 deliveries' }),
        failed: Type.Integer({ description: 'Of the latest 1,000 deliveries' }),
        lastAttempt: nullable(Attempt),
      }),
      deliveries: Type.Array(Type.Object(delivery)),
      nextCursor: nullable(Type.String()),
    }),
  ),
  getDelivery: userAction(
    strictObject(OfDelivery),
    Type.Object({
      ...delivery,
      url: Type.String({ description: 'The present address of the webhook' }),
      webhookStatus: WebhookStatus,
      requestId: Type.String(),
      payload: Type.String({ description: 'The beginning' }),
      payloadCharacters: Type.Integer(),
    }),
  ),
  createWebhook: userAction(
    strictObject({
      id: Type.String({
        format: 'uuid',
        description: 'Chosen by the form, so that sending it twice creates one webhook',
      }),
      url: CreateWebhookInput.properties.url,
      events: CreateWebhookInput.properties.events,
      description: CreateWebhookInput.properties.description,
    }),
    Type.Object({ id: Type.String(), url: Type.String(), secret: Type.String() }),
  ),
  changeWebhook: userAction(
    strictObject({
      ...WebhookId,
      revision: Type.Optional(Type.Integer({ description: 'The one that the change starts from' })),
      ...ChangeWebhookInput.properties,
    }),
    Type.Object({ id: Type.String(), status: WebhookStatus }),
  ),
  rotateSecret: userAction(
    strictObject({ ...WebhookId, secretVersion: Type.String({ maxLength: 64 }) }),
    Type.Object({ id: Type.String(), secret: Type.String() }),
  ),
  deleteWebhook: userAction(strictObject(WebhookId), NoData),
  testWebhook: userAction(strictObject(WebhookId), DeliveryAttemptDetails),
  redeliver: userAction(strictObject(OfDelivery), NoData),
  redeliverSince: userAction(
    strictObject({
      ...WebhookId,
      day: Type.String({ maxLength: 20, description: 'In the time zone of the profile, such as `2026-11-20`' }),
    }),
    Type.Object({ count: Type.Integer() }),
  ),
};
