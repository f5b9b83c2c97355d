import { Type } from '@sinclair/typebox';
import { ChangeChannelInput, Channel, CreateChannelInput } from '../../../channels/channels.ts';
import { ChannelAttempt, MESSAGE_EVENTS } from '../../../channels/deliveries.ts';
import { Cursor, Id, Instant, nullable, strictObject, stringEnum, Uuid } from '../../../primitives.ts';
import { WebhookStatus } from '../../../webhooks/webhooks.ts';
import { NoData, userAction } from '../define.ts';

const MessageEvent = stringEnum(MESSAGE_EVENTS);
const MessageStatus = stringEnum(['pending', 'sending', 'delivered', 'failed', 'held', 'digested']);

const Latest = Type.Array(
  Type.Object({
    status: MessageStatus,
    attempt: Type.Integer({ description: 'The attempts so far' }),
    event: MessageEvent,
    createdAt: Instant,
  }),
  { description: 'The latest 30 deliveries, newest first' },
);

const Overview = {
  ...Channel.properties,
  tasks: Type.Array(Type.Object({ taskId: Id, taskName: Type.String() }), {
    description: 'Those that send to it, newest first; at most five',
  }),
  taskCount: Type.Integer({ description: 'All that send to it' }),
  latest: Latest,
};

const Attempt = Type.Object({
  at: Instant,
  attempt: Type.Integer(),
  success: Type.Boolean(),
  statusCode: nullable(Type.Integer()),
  responseTimeMs: Type.Integer(),
  error: nullable(Type.String()),
});

const Delivery = Type.Object({
  id: Type.String(),
  event: MessageEvent,
  status: MessageStatus,
  attempt: Type.Integer(),
  createdAt: Instant,
  nextAttemptAt: nullable(Instant),
  title: nullable(Type.String({ description: 'Of the message; null of one that is too large to be read for a list' })),
  path: nullable(Type.String({ description: 'The page of what the message reports' })),
  items: Type.Array(Type.String(), { description: 'The titles of the messages of a digest; at most 20' }),
  digest: nullable(
    Type.Object(
      { status: MessageStatus, attempt: Type.Integer(), createdAt: Instant },
      { description: 'The delivery that has the message with others' },
    ),
  ),
  attempts: Type.Array(Attempt, { description: 'Newest first; at most ten' }),
});

const ChannelId = { id: Uuid };
const Changed = Type.Object({ id: Type.String(), status: WebhookStatus, isConfirmed: Type.Boolean() });

export const channelActions = {
  listChannels: userAction(strictObject({}), Type.Object({ channels: Type.Array(Type.Object(Overview)) })),
  getChannel: userAction(
    strictObject(ChannelId),
    Type.Object({ ...Channel.properties, revision: Type.Integer(), taskCount: Type.Integer() }),
  ),
  showChannel: userAction(
    strictObject({ ...ChannelId, cursor: Type.Optional(Cursor) }),
    Type.Object({
      channel: Type.Object({
        ...Overview,
        waiting: Type.Integer({ description: 'Held ones too, of the latest 1,000 deliveries' }),
        failed: Type.Integer({ description: 'Of the latest 1,000 deliveries' }),
        lastAttempt: nullable(Attempt),
      }),
      deliveries: Type.Array(Delivery),
      nextCursor: nullable(Type.String()),
    }),
  ),
  createChannel: userAction(
    strictObject({
      id: Type.String({
        format: 'uuid',
        description: 'Chosen by the form, so that sending it twice creates one channel',
      }),
      ...CreateChannelInput.properties,
    }),
    Changed,
  ),
  changeChannel: userAction(
    strictObject({
      ...ChannelId,
      revision: Type.Optional(Type.Integer({ description: 'The one that the change starts from' })),
      ...ChangeChannelInput.properties,
    }),
    Changed,
  ),
  deleteChannel: userAction(strictObject(ChannelId), NoData),
  testChannel: userAction(strictObject(ChannelId), ChannelAttempt),
  redeliverMessage: userAction(strictObject({ ...ChannelId, deliveryId: Uuid }), NoData),
};
