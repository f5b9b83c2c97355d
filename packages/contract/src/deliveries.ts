import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { describedErrors, errorResponses, type Operation, SIGNED_IN } from './operation.ts';
import { InstantInput, Offset, pageLimit, ref, strictObject, Uuid } from './primitives.ts';
import { DeliveryAttempt, WebhookParams } from './webhooks.ts';

/** What was sent to a webhook, and sending it again: specification "Webhooks"; decisions §8. */

const common = { tags: ['webhooks'], security: SIGNED_IN };

export const testWebhook = {
  ...common,
  operationId: 'testWebhook',
  summary: 'Send a test to a webhook, once, and tell what became of it',
  description:
    'Sends the event `test` once, at once, and answers when the receiver has, at the latest after 35 s. It is in the log, and is not tried again. That the receiver refuses it is no error here: `success` tells.',
  params: WebhookParams,
  response: {
    200: Type.Object({
      success: Type.Boolean({ description: 'Whether the receiver took it' }),
      delivery: ref(DeliveryAttempt),
    }),
    ...errorResponses(401, 403, 404, 429),
  },
} satisfies Operation;

export const ListDeliveriesQuery = Type.Object({ limit: pageLimit(50), offset: Offset });
export type ListDeliveriesQuery = Static<typeof ListDeliveriesQuery>;

export const listDeliveries = {
  ...common,
  operationId: 'listDeliveries',
  summary: 'What became of each attempt, newest first',
  description: 'The last 100 attempts, and all those of deliveries that are still open. Pages by `limit` and `offset`.',
  params: WebhookParams,
  querystring: ListDeliveriesQuery,
  response: {
    200: Type.Object({
      success,
      logs: Type.Array(ref(DeliveryAttempt)),
      pagination: Type.Object({ total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() }),
    }),
    ...errorResponses(401, 404, 429),
  },
} satisfies Operation;

export const redeliver = {
  ...common,
  operationId: 'redeliver',
  summary: 'Send a delivery again',
  description:
    'The same bytes under the same `webhook-id`, from attempt 1 on; one that waits for a retry is sent now. Takes the `deliveryId` or the `id` of a log entry. A receiver that has it already knows it by `webhook-id`.',
  params: Type.Object({ id: Uuid, deliveryId: Uuid }),
  response: {
    201: Type.Object({ success, deliveryId: Type.String() }),
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      404: 'There is no such delivery of this webhook, or it is not yours',
      409: 'The webhook is inactive or failed: switch it on first',
    }),
  },
} satisfies Operation;

export const RedeliverSinceInput = strictObject({ since: InstantInput });
export type RedeliverSinceInput = Static<typeof RedeliverSinceInput>;

export const redeliverSince = {
  ...common,
  operationId: 'redeliverSince',
  summary: 'Send again what has failed since an instant',
  description:
    'Each delivery of which all attempts failed, from attempt 1 on. What failed is kept for 30 days unless the operator has set another time.',
  params: WebhookParams,
  body: RedeliverSinceInput,
  response: {
    200: Type.Object({ success, count: Type.Integer({ description: 'Deliveries that are sent again' }) }),
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 409: 'The webhook is inactive or failed: switch it on first' }),
  },
} satisfies Operation;
