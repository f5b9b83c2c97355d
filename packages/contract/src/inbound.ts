import { type Static, Type } from '@sinclair/typebox';
import { BareErrorBody, success } from './envelopes.ts';
import { EventKind } from './events.ts';
import { bareErrorResponses, type Operation, PUBLIC } from './operation.ts';
import { Id, ref, strictObject } from './primitives.ts';

/** Specification "Webhooks", the path with the secret; decisions §8. */

const common = { tags: ['webhooks'], security: PUBLIC };
/** Texts, whatever they are: what cannot exist is answered like what does not. */
export const InboundParams = Type.Object({ userId: Type.String(), secret: Type.String() });

export const showInbound = {
  ...common,
  operationId: 'showInbound',
  summary: 'Whether an inbound address is good',
  description:
    'For whoever set up the address in another system. An unknown, a deleted and an inactive webhook are answered alike.',
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
  data: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
});
export type InboundInput = Static<typeof InboundInput>;

export const receiveInbound = {
  ...common,
  operationId: 'receiveInbound',
  summary: "Run a task of the webhook's owner",
  description:
    'With `taskId` that task is run (201); without it the call is taken note of (200). Signed as deliveries are: `X-Webhook-Signature: sha256=<hex>`, the HMAC-SHA256 of the raw body keyed with the secret. The `task.*` events of the run are sent to no webhook; its `execution.*` events are.',
  params: InboundParams,
  headers: Type.Object({ 'x-webhook-signature': Type.Optional(Type.String({ description: 'sha256=<hex>' })) }),
  body: InboundInput,
  response: {
    200: Type.Object({ success, received: Type.Literal(true) }, { description: 'Taken note of' }),
    201: Type.Object({ success, executionId: Id }, { description: 'The task runs' }),
    ...bareErrorResponses(401, 402, 404, 429),
    401: ref(BareErrorBody, 'The signature is missing or wrong'),
    404: ref(BareErrorBody, 'The webhook is unknown, deleted or inactive, or its owner has no such task'),
  },
} satisfies Operation;
