import { type Static, Type } from '@sinclair/typebox';
import { errors, success } from './envelopes.ts';
import { EventKind } from './events.ts';
import { type Operation, SIGNED_IN } from './operation.ts';
import { HttpUrl, Id, Instant, InstantText, nullable, Offset, pageSize, ref, strict, Uuid } from './primitives.ts';
import { DeliveryAttempt, Webhook } from './webhook.ts';

/** Specification "Webhooks"; decisions §8. */

export * from './webhook.ts';

const common = { tags: ['webhooks'], security: SIGNED_IN };

export const WebhookParams = Type.Object({ id: Uuid });
const Events = Type.Array(EventKind, { minItems: 1, description: 'Each kind counts once' });
const Description = Type.String({ maxLength: 500 });

export const CreateWebhookInput = strict({
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
    'The secret signs what is sent. It is shown here and by a rotation, and never again. 409 for a secret of your own that is the inbound address of another webhook of yours.',
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
    ...errors(401, 402, 403, 409, 429),
  },
} satisfies Operation;

export const ListWebhooksQuery = Type.Object({ limit: pageSize(20), offset: Offset });
export type ListWebhooksQuery = Static<typeof ListWebhooksQuery>;

export const listWebhooks = {
  ...common,
  operationId: 'listWebhooks',
  summary: "The caller's webhooks, newest first",
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
    ...errors(401, 429),
  },
} satisfies Operation;

const OneWebhook = Type.Object({ success, webhook: ref(Webhook) });

export const getWebhook = {
  ...common,
  operationId: 'getWebhook',
  summary: 'One webhook',
  params: WebhookParams,
  response: { 200: OneWebhook, ...errors(401, 404, 429) },
} satisfies Operation;

export const ChangeWebhookInput = strict({
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
    'Of the webhook of a task or of the settings only `isActive` can be changed here (else 409); that of the settings is `notificationPreferences.webhook`.',
  params: WebhookParams,
  body: ChangeWebhookInput,
  response: { 200: OneWebhook, ...errors(401, 403, 404, 409, 429) },
} satisfies Operation;

export const deleteWebhook = {
  ...common,
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook with its deliveries and its log',
  description: '409 for the webhook of a task or of the settings: it goes with the `webhookUrl` there.',
  params: WebhookParams,
  response: { 200: Type.Object({ success, message: Type.String() }), ...errors(401, 403, 404, 409, 429) },
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
    ...errors(401, 403, 404, 429),
  },
} satisfies Operation;

export const testWebhook = {
  ...common,
  operationId: 'testWebhook',
  summary: 'Send a test to a webhook, once, and tell what became of it',
  params: WebhookParams,
  response: {
    200: Type.Object({
      success: Type.Boolean({ description: 'Whether the receiver took it' }),
      delivery: ref(DeliveryAttempt),
    }),
    ...errors(401, 403, 404, 429),
  },
} satisfies Operation;

export const ListDeliveriesQuery = Type.Object({ limit: pageSize(50), offset: Offset });
export type ListDeliveriesQuery = Static<typeof ListDeliveriesQuery>;

export const listDeliveries = {
  ...common,
  operationId: 'listDeliveries',
  summary: 'What became of each attempt, newest first',
  description: 'The last 100 attempts, and all those of deliveries that are still open.',
  params: WebhookParams,
  querystring: ListDeliveriesQuery,
  response: {
    200: Type.Object({
      success,
      logs: Type.Array(ref(DeliveryAttempt)),
      pagination: Type.Object({ total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() }),
    }),
    ...errors(401, 404, 429),
  },
} satisfies Operation;

export const redeliver = {
  ...common,
  operationId: 'redeliver',
  summary: 'Send a delivery again',
  description:
    'The same bytes under the same `webhook-id`, from attempt 1 on; one that waits for a retry is sent now. Takes the `deliveryId` or the `id` of a log entry. 409 while the webhook is not active.',
  params: Type.Object({ id: Uuid, deliveryId: Uuid }),
  response: { 201: Type.Object({ success, deliveryId: Type.String() }), ...errors(401, 403, 404, 409, 429) },
} satisfies Operation;

export const RedeliverSinceInput = strict({ since: InstantText });
export type RedeliverSinceInput = Static<typeof RedeliverSinceInput>;

export const redeliverSince = {
  ...common,
  operationId: 'redeliverSince',
  summary: 'Send again what has failed since an instant',
  description: 'What failed is kept for 30 days. 409 while the webhook is not active.',
  params: WebhookParams,
  body: RedeliverSinceInput,
  response: {
    200: Type.Object({ success, count: Type.Integer({ description: 'Deliveries that are sent again' }) }),
    ...errors(401, 403, 404, 409, 429),
  },
} satisfies Operation;
