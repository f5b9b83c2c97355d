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
import { InstantInput, Offset, pageLimit, ref, strictObject, Uuid } from '../primitives.ts';
import { DeliveryAttempt, DeliveryAttemptDetails, WebhookParams } from './webhooks.ts';

const common = { tags: ['webhooks'], security: SIGNED_IN };

export const testWebhook = {
  ...common,
  operationId: 'testWebhook',
  summary: 'Test a webhook',
  description:
    'Sends the event `test` immediately and responds when the receiver has responded, after 35 seconds at most. The attempt is logged and never retried. A rejection by the receiver is not an error of this operation: see `success`.',
  params: WebhookParams,
  response: {
    200: Type.Object({
      success: Type.Boolean({ description: 'Whether the receiver accepted the delivery' }),
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
  summary: 'List delivery attempts',
  description:
    'Returns the last 100 attempts and all attempts of deliveries that are still pending, newest first. Pages by `limit` and `offset`.',
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

export const getDeliveryAttempt = {
  ...common,
  operationId: 'getDeliveryAttempt',
  summary: 'Get a delivery attempt',
  description: 'Returns an entry of the delivery log with its delivery, and why it failed.',
  params: Type.Object({ id: Uuid, logId: Uuid }),
  response: {
    200: Type.Object({ success, log: DeliveryAttemptDetails }),
    ...errorResponses(401, 404, 429),
  },
} satisfies Operation;

export const redeliver = {
  ...common,
  operationId: 'redeliver',
  summary: 'Redeliver a delivery',
  description:
    'Sends the same bytes with the same `webhook-id` again, starting with attempt 1; a delivery that waits for a retry is sent now. Accepts the `deliveryId` or the `id` of a log entry. Receivers detect duplicates by `webhook-id`.',
  params: Type.Object({ id: Uuid, deliveryId: Uuid }),
  response: {
    201: Type.Object({ success, deliveryId: Type.String() }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      404: 'The webhook does not exist, belongs to another user, or has no delivery with this id',
      409: orInProgress('The webhook is inactive or failed: activate it first'),
    }),
  },
} satisfies Operation;

export const RedeliverSinceInput = strictObject({ since: InstantInput });
export type RedeliverSinceInput = Static<typeof RedeliverSinceInput>;

export const redeliverSince = {
  ...common,
  operationId: 'redeliverSince',
  summary: 'Redeliver failed deliveries',
  description:
    'Sends each delivery again whose attempts have all failed since the given instant, starting with attempt 1. Failed deliveries are stored for 30 days by default.',
  params: WebhookParams,
  body: RedeliverSinceInput,
  response: {
    200: Type.Object({ success, count: Type.Integer({ description: 'The number of deliveries that are sent again' }) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 409: orInProgress('The webhook is inactive or failed: activate it first') }),
  },
} satisfies Operation;
