import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
  SIGNED_IN,
} from '../operation.ts';
import { IfMatch, IfNoneMatch, NOT_MODIFIED } from '../preconditions.ts';
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
} from '../primitives.ts';
import { EventKind } from './events.ts';

export const WebhookParams = Type.Object({ id: Uuid });

export const WEBHOOK_STATUSES = ['active', 'inactive', 'failed'] as const;
export const WebhookStatus = stringEnum(WEBHOOK_STATUSES);
export type WebhookStatus = Static<typeof WebhookStatus>;

export const WEBHOOK_PURPOSES = ['subscription', 'task', 'account'] as const;
export const WebhookPurpose = stringEnum(WEBHOOK_PURPOSES, {
  description:
    '`subscription` if created by `POST /api/webhooks`; `task` or `account` for the `webhookUrl` of a task or of the settings',
});
export type WebhookPurpose = Static<typeof WebhookPurpose>;

export const Webhook = Type.Object(
  {
    id: Type.String(),
    userId: Id,
    purpose: WebhookPurpose,
    taskId: nullable(Type.Integer({ description: 'The task whose `webhookUrl` it is' })),
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

const attemptFields = {
  id: Type.String(),
  webhookId: Type.String(),
  event: EventKind,
  url: Type.String(),
  statusCode: nullable(Type.Integer({ description: 'Null if there was no response' })),
  responseTime: Type.Integer({ description: 'Milliseconds; 0 if there was no connection' }),
  attempt: Type.Integer(),
  success: Type.Boolean(),
  timestamp: Instant,
};

/** An entry of the delivery log. */
export const DeliveryAttempt = Type.Object(attemptFields, { $id: 'DeliveryAttempt' });
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

/** The same, with what only its detail has. */
export const DeliveryAttemptDetails = Type.Object({
  ...attemptFields,
  deliveryId: Type.String({ description: 'The value of `webhook-id`: the same for each attempt of a delivery' }),
  error: nullable(Type.String({ description: 'Why the attempt failed' })),
});
export type DeliveryAttemptDetails = Static<typeof DeliveryAttemptDetails>;

const common = { tags: ['webhooks'], security: SIGNED_IN };

const Events = Type.Array(EventKind, { minItems: 1, description: 'Duplicates are ignored' });
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
        'Default: a generated secret. After `whsec_` it must be padded base64. It enables the inbound URL if it has 32 to 100 letters, digits, `-`, `.`, `_` and `~`',
    }),
  ),
});
export type CreateWebhookInput = Static<typeof CreateWebhookInput>;

export const createWebhook = {
  ...common,
  operationId: 'createWebhook',
  summary: 'Create a webhook',
  description:
    'Subscribes a URL to events of the given kinds; see `webhooks` in this document. The secret signs deliveries; it is returned here and by a rotation, and never again. Sent twice without an `Idempotency-Key`, it creates two webhooks.',
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
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      402: 'The plan allows no more webhooks',
      409: orInProgress('Another one of your webhooks has this secret, which determines its inbound URL'),
    }),
  },
} satisfies Operation;

export const ListWebhooksQuery = Type.Object({ limit: pageLimit(20), offset: Offset });
export type ListWebhooksQuery = Static<typeof ListWebhooksQuery>;

export const listWebhooks = {
  ...common,
  operationId: 'listWebhooks',
  summary: 'List webhooks',
  description:
    "Returns the caller's webhooks, newest first: those created by `createWebhook` and those of the `webhookUrl` of tasks and of the settings. Secrets are not returned. Pages by `limit` and `offset`.",
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
  summary: 'Get a webhook',
  description: 'Returns the webhook without its secret.',
  params: WebhookParams,
  headers: IfNoneMatch,
  response: { 200: WebhookResponse, ...NOT_MODIFIED, ...errorResponses(401, 404, 429) },
} satisfies Operation;

export const ChangeWebhookInput = strictObject({
  url: Type.Optional(HttpUrl),
  events: Type.Optional(Events),
  description: Type.Optional(nullable(Description)),
  isActive: Type.Optional(
    Type.Boolean({ description: '`true` also clears `failed`; deliveries wait while it is `false`' }),
  ),
});
export type ChangeWebhookInput = Static<typeof ChangeWebhookInput>;

export const changeWebhook = {
  ...common,
  operationId: 'changeWebhook',
  summary: 'Change a webhook',
  description:
    'Activating the webhook again sends the deliveries that have waited. For the webhook of a task or of the settings, only `isActive` can be changed here; for the webhook of the settings it equals `notificationPreferences.webhook`.',
  params: WebhookParams,
  headers: IfMatch,
  body: ChangeWebhookInput,
  response: {
    200: WebhookResponse,
    ...errorResponses(401, 403, 404, 412, 429),
    ...describedErrors({ 409: 'The webhook belongs to a task or to the settings: change the `webhookUrl` there' }),
  },
} satisfies Operation;

export const deleteWebhook = {
  ...common,
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook',
  description:
    'Deletes the webhook with its deliveries and its log; pending deliveries are dropped. The webhook of a task or of the settings is deleted by removing the `webhookUrl` there.',
  params: WebhookParams,
  headers: IfMatch,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 403, 404, 412, 429),
    ...describedErrors({ 409: 'The webhook belongs to a task or to the settings: remove the `webhookUrl` there' }),
  },
} satisfies Operation;

export const rotateSecret = {
  ...common,
  operationId: 'rotateSecret',
  summary: 'Rotate the secret of a webhook',
  description:
    'For 24 hours, `webhook-signature` also contains a signature with the previous secret. `X-Webhook-Signature` and the inbound URL change immediately.',
  params: WebhookParams,
  response: {
    200: Type.Object({ success, webhook: Type.Object({ id: Type.String(), secret: Type.String() }) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 404, 429),
  },
} satisfies Operation;
