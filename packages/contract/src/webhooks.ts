import { type Static, Type } from '@sinclair/typebox';
import { errors, refusals, success } from './envelopes.ts';
import { EventKind } from './events.ts';
import { type Operation, SIGNED_IN } from './operation.ts';
import { HttpUrl, Id, Instant, nullable, Offset, pageSize, ref, strict } from './primitives.ts';
import { Webhook, WebhookParams } from './webhook.ts';

/** Specification "Webhooks"; decisions §8. */

export * from './deliveries.ts';
export * from './webhook.ts';

const common = { tags: ['webhooks'], security: SIGNED_IN };

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
    ...errors(401, 403, 429),
    ...refusals({
      402: 'The webhooks that the plan has are all taken',
      409: 'Another webhook of yours has this secret, which is its inbound address',
    }),
  },
} satisfies Operation;

export const ListWebhooksQuery = Type.Object({ limit: pageSize(20), offset: Offset });
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
    ...errors(401, 429),
  },
} satisfies Operation;

const OneWebhook = Type.Object({ success, webhook: ref(Webhook) });

export const getWebhook = {
  ...common,
  operationId: 'getWebhook',
  summary: 'One webhook',
  description: 'Without its secret, which is shown when it is made and by a rotation.',
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
    'Switched on again, it is sent what has waited meanwhile. Of the webhook of a task or of the settings only `isActive` can be changed here; that of the settings is `notificationPreferences.webhook`.',
  params: WebhookParams,
  body: ChangeWebhookInput,
  response: {
    200: OneWebhook,
    ...errors(401, 403, 404, 429),
    ...refusals({ 409: 'It is the webhook of a task or of the settings: change the `webhookUrl` there' }),
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
    ...errors(401, 403, 404, 429),
    ...refusals({ 409: 'It is the webhook of a task or of the settings: remove the `webhookUrl` there' }),
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
    ...errors(401, 403, 404, 429),
  },
} satisfies Operation;
