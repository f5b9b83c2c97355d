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
import { Instant, nullable, Offset, pageLimit, ref, stringEnum, Uuid } from '../primitives.ts';
import { EVENT_KINDS } from '../webhooks/events.ts';
import { ChannelParams } from './channels.ts';

/** What a message is about. A `digest` has several messages. */
const MESSAGE_EVENTS = [...EVENT_KINDS, 'notification', 'digest'] as const;
const MessageEvent = stringEnum(MESSAGE_EVENTS);
export type MessageEvent = Static<typeof MessageEvent>;

/** An entry of the delivery log. */
export const ChannelAttempt = Type.Object(
  {
    id: Type.String(),
    deliveryId: Type.String({ description: 'The same for each attempt of a delivery' }),
    channelId: Type.String(),
    event: MessageEvent,
    statusCode: nullable(Type.Integer({ description: 'Null if there was no response, and of `email`' })),
    responseTime: Type.Integer({ description: 'Milliseconds; 0 if there was no connection' }),
    attempt: Type.Integer(),
    success: Type.Boolean(),
    error: nullable(Type.String({ description: 'Why the attempt failed' })),
    timestamp: Instant,
  },
  { $id: 'ChannelAttempt' },
);
export type ChannelAttempt = Static<typeof ChannelAttempt>;

const common = { tags: ['channels'], security: SIGNED_IN };

export const testChannel = {
  ...common,
  operationId: 'testChannel',
  summary: 'Test a channel',
  description:
    'Sends a test message immediately and responds when the target has responded, after 35 seconds at most. The attempt is logged and never retried. A rejection by the target is not an error of this operation: see `success`.',
  params: ChannelParams,
  response: {
    200: Type.Object({
      success: Type.Boolean({ description: 'Whether the target accepted the message' }),
      delivery: ref(ChannelAttempt),
    }),
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 409: 'The e-mail address is not confirmed yet' }),
  },
} satisfies Operation;

export const ListChannelLogsQuery = Type.Object({ limit: pageLimit(50), offset: Offset });
export type ListChannelLogsQuery = Static<typeof ListChannelLogsQuery>;

export const listChannelLogs = {
  ...common,
  operationId: 'listChannelLogs',
  summary: 'List the attempts of a channel',
  description:
    'Returns the last 100 attempts and all attempts of deliveries that are still pending, newest first. Pages by `limit` and `offset`.',
  params: ChannelParams,
  querystring: ListChannelLogsQuery,
  response: {
    200: Type.Object({
      success,
      logs: Type.Array(ref(ChannelAttempt)),
      pagination: Type.Object({ total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() }),
    }),
    ...errorResponses(401, 404, 429),
  },
} satisfies Operation;

export const redeliverMessage = {
  ...common,
  operationId: 'redeliverMessage',
  summary: 'Send a message again',
  description:
    'Sends the message again, starting with attempt 1; one that waits for a retry is sent now. Accepts the `deliveryId` or the `id` of a log entry.',
  params: Type.Object({ id: Uuid, deliveryId: Uuid }),
  response: {
    201: Type.Object({ success, deliveryId: Type.String() }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      404: 'The channel does not exist, belongs to another user, or has no delivery with this id',
      409: orInProgress('The channel is inactive or failed: switch it on first'),
    }),
  },
} satisfies Operation;
