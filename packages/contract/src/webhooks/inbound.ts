import { type Static, Type } from '@sinclair/typebox';
import { BareErrorBody, success } from '../envelopes.ts';
import { bareErrorResponses, type Operation, PUBLIC } from '../operation.ts';
import { Id, ref, strictObject } from '../primitives.ts';
import { EventKind } from './events.ts';

const common = { tags: ['webhooks'], security: PUBLIC };
// Any strings: an address that cannot exist is not found rather than invalid.
export const InboundParams = Type.Object({ userId: Type.String(), secret: Type.String() });

export const showInbound = {
  ...common,
  operationId: 'showInbound',
  summary: 'Check an inbound webhook',
  description:
    'For setting up the inbound URL in another system. The response is the same for unknown, deleted and inactive webhooks.',
  params: InboundParams,
  response: {
    200: Type.Object({
      message: Type.String(),
      userId: Type.String(),
      webhookId: Type.String(),
      acceptedEvents: Type.Array(EventKind),
      isActive: Type.Boolean(),
    }),
    ...bareErrorResponses(404, 429),
    404: ref(BareErrorBody, 'The webhook is unknown, deleted or inactive'),
  },
} satisfies Operation;

export const InboundInput = strictObject({
  event: Type.Optional(Type.String({ maxLength: 200 })),
  taskId: Type.Optional(Id),
  data: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'For the prompt of the task, as `{{data.…}}`: at most 32 KiB as JSON',
    }),
  ),
});
export type InboundInput = Static<typeof InboundInput>;

export const receiveInbound = {
  ...common,
  operationId: 'receiveInbound',
  summary: 'Receive an inbound webhook',
  description:
    "With `taskId`, runs that task of the webhook's owner (201), whose prompt may use `data`; without it, only acknowledges the call (200). The call is signed like deliveries: `X-Webhook-Signature: sha256=<hex>`, the HMAC-SHA256 of the raw body with the secret as key. The `execution.*` events of the run are sent to webhooks, its `task.*` events are not.",
  params: InboundParams,
  headers: Type.Object({ 'x-webhook-signature': Type.Optional(Type.String({ description: 'sha256=<hex>' })) }),
  body: InboundInput,
  response: {
    200: Type.Object({ success, received: Type.Literal(true) }, { description: 'Acknowledged' }),
    201: Type.Object({ success, executionId: Id }, { description: 'The run is queued' }),
    ...bareErrorResponses(401, 402, 404, 429),
    401: ref(BareErrorBody, 'The signature is missing or wrong'),
    404: ref(BareErrorBody, 'The webhook is unknown, deleted or inactive, or its owner has no task with this id'),
  },
} satisfies Operation;
