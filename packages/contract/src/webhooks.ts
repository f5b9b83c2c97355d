import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { EventKind } from './events.ts';
import { describedErrors, errorResponses, type Operation, SIGNED_IN } from './operation.ts';
import {
  HttpUrl,
  Id,
  Instant,
  nullable,
  Offset,
  pageLimit,
  ref,
  strictObject,
  stringEnum,
  Uuid,
} from './primitives.ts';

/** Specification "Webhooks"; decisions §8. */

export const WebhookParams = Type.Object({ id: Uuid });

export const WEBHOOK_STATUSES = ['active', 'inactive', 'failed'] as const;
export const WebhookStatus = stringEnum(WEBHOOK_STATUSES);
export type WebhookStatus = Static<typeof WebhookStatus>;

export const WEBHOOK_PURPOSES = ['subscription', 'task', 'account'] as const;
export const WebhookPurpose = stringEnum(WEBHOOK_PURPOSES, {
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

const common = { tags: ['webhooks'], security: SIGNED_IN };

const Events = Type.Array(EventKind, { minItems: 1, description: 'Each kind counts once' });
const Description = Type.String({ maxLength: 500 });

export const CreateWebhookInput = strictObject({
  url: HttpUrl,
  events: Events,
  description: Type.Optional(nullable(Description)),
  secret: Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 128,
      pattern: '^[\\x21-\\x7e]+$',
      description:
        'Made by the service unless told. After `whsec_` it must be base64, padded. It opens the inbound address where it has 32 to 100 letters, digits, `-`, `.`, `_` and `~`',
    }),
  ),
});
export type CreateWebhookInput = Static<typeof CreateWebhookInput>;

export const createWebhook = {
  ...common,
  operationId: 'createWebhook',
  summary: 'Subscribe an address to events',
  description:
    'From now on the address is sent each event of these kinds, as `webhooks` of this document shows them. The secret signs what is sent: it is shown here and by a rotation, and never again. Sent twice, it makes two webhooks.',
  body: CreateWebhookInput,
  response: {
    201: Type.Object({
      success,
      webhook: Type.Object({
        id: Type.String(),
        userId: Id,
        url: Type.String(),
        secret: Type.String(),
        events: Type.Array(EventKind),
        isActive: Type.Boolean(),
        createdAt: Instant,
      }),
    }),
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      402: 'The webhooks that the plan has are all taken',
      409: 'Another webhook of yours has this secret, which is its inbound address',
    }),
  },
} satisfies Operation;

export const ListWebhooksQuery = Type.Object({ limit: pageLimit(20), offset: Offset });
export type ListWebhooksQuery = Static<typeof ListWebhooksQuery>;

export const listWebhooks = {
  ...common,
  operationId: 'listWebhooks',
  summary: "The caller's webhooks, newest first",
  description:
    'Those made by `createWebhook`, and those of the `webhookUrl` of tasks and of the settings. Secrets are not shown. Pages by `limit` and `offset`.',
  querystring: ListWebhooksQuery,
  response: {
    200: Type.Object({
      success,
      webhooks: Type.Array(ref(Webhook)),
      pagination: Type.Object({
        total: Type.Integer(),
        limit: Type.Integer(),
        offset: Type.Integer(),
        hasMore: Type.Boolean(),
      }),
    }),
    ...errorResponses(401, 429),
  },
} satisfies Operation;

const WebhookResponse = Type.Object({ success, webhook: ref(Webhook) });

export const getWebhook = {
  ...common,
  operationId: 'getWebhook',
  summary: 'One webhook',
  description: 'Without its secret, which is shown when it is made and by a rotation.',
  params: WebhookParams,
  response: { 200: WebhookResponse, ...errorResponses(401, 404, 429) },
} satisfies Operation;

export const ChangeWebhookInput = strictObject({
  url: Type.Optional(HttpUrl),
  events: Type.Optional(Events),
  description: Type.Optional(nullable(Description)),
  isActive: Type.Optional(
    Type.Boolean({ description: 'true also clears `failed`; deliveries wait while it is false' }),
  ),
});
export type ChangeWebhookInput = Static<typeof ChangeWebhookInput>;

export const changeWebhook = {
  ...common,
  operationId: 'changeWebhook',
  summary: 'Change a webhook, switch it on or off',
  description:
    'Switched on again, it is sent what has waited meanwhile. Of the webhook of a task or of the settings only `isActive` can be changed here; that of the settings is `notificationPreferences.webhook`.',
  params: WebhookParams,
  body: ChangeWebhookInput,
  response: {
    200: WebhookResponse,
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 409: 'It is the webhook of a task or of the settings: change the `webhookUrl` there' }),
  },
} satisfies Operation;

export const deleteWebhook = {
  ...common,
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook with its deliveries and its log',
  description: 'What waits to be sent is dropped. That of a task or of the settings goes with the `webhookUrl` there.',
  params: WebhookParams,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 409: 'It is the webhook of a task or of the settings: remove the `webhookUrl` there' }),
  },
} satisfies Operation;

export const rotateSecret = {
  ...common,
  operationId: 'rotateSecret',
  summary: 'Give a webhook a new secret',
  description:
    'For 24 hours `webhook-signature` also carries a signature by the secret before. `X-Webhook-Signature` and the inbound address change at once.',
  params: WebhookParams,
  response: {
    200: Type.Object({ success, webhook: Type.Object({ id: Type.String(), secret: Type.String() }) }),
    ...errorResponses(401, 403, 404, 429),
  },
} satisfies Operation;
