import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { describedErrors, errorResponses, IDEMPOTENCY_ERRORS, type Operation, SIGNED_IN } from '../operation.ts';
import { IfMatch, IfNoneMatch, NOT_MODIFIED } from '../preconditions.ts';
import {
  HttpUrl,
  Instant,
  nullable,
  Offset,
  OwnName,
  pageLimit,
  ref,
  strictObject,
  stringEnum,
  TimeZone,
  Uuid,
} from '../primitives.ts';
import { WebhookStatus } from '../webhooks/webhooks.ts';

export const CHANNEL_KINDS = [
  'slack',
  'mattermost',
  'teams',
  'discord',
  'telegram',
  'ntfy',
  'apprise',
  'email',
] as const;
export const ChannelKind = stringEnum(CHANNEL_KINDS);
export type ChannelKind = Static<typeof ChannelKind>;

export const ChannelParams = Type.Object({ id: Uuid });

/** What the kinds take; which of them takes what is checked by the kind. */
const settings = {
  url: Type.Optional({
    ...HttpUrl,
    description:
      'Of `slack`, `mattermost`, `teams` and `discord`: the incoming webhook, a secret. Of `ntfy` and `apprise`: the server',
  }),
  botToken: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Of `telegram`: the token of the bot, a secret' }),
  ),
  chatId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Of `telegram`: an id, or the `@name` of a channel' }),
  ),
  topic: Type.Optional(
    Type.String({ pattern: '^[-_A-Za-z0-9]{1,64}$', description: 'Of `ntfy`: letters, digits, `-` and `_`' }),
  ),
  token: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: 'Of `ntfy`: an access token, a secret' }),
  ),
  urls: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), {
      minItems: 1,
      maxItems: 10,
      description: 'Of `apprise`: the notification URLs, which are secrets. Either these or `key`',
    }),
  ),
  key: Type.Optional(
    Type.String({
      pattern: '^[-_A-Za-z0-9]{1,128}$',
      description: 'Of `apprise`: the key of a configuration that the server has, a secret',
    }),
  ),
  address: Type.Optional(
    Type.String({
      format: 'email',
      maxLength: 254,
      description: 'Of `email`: gets nothing but a link before that is opened',
    }),
  ),
};

const Time = Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description: 'Such as `22:00`' });
export const QuietHours = strictObject(
  { from: Time, to: Time, timezone: TimeZone },
  {
    description: 'When nothing is sent, by the clock of the time zone. Messages are held and sent together afterwards',
  },
);
export const DIGESTS = ['off', 'hourly', 'daily'] as const;
const Digest = stringEnum(DIGESTS, {
  description: 'Of `email`: one mail an hour or a day with all messages since the previous one',
});
const DigestHour = Type.Integer({ minimum: 0, maximum: 23, description: 'The local hour of a daily digest' });
const MinInterval = Type.Integer({
  minimum: 1,
  maximum: 1440,
  description: 'Minimum number of minutes between two messages. Messages are held and sent together afterwards',
});
const Urgent = Type.Boolean({ description: 'Whether alerts are sent in spite of `quiet` and `minIntervalMinutes`' });

export const Channel = Type.Object(
  {
    id: Type.String(),
    kind: ChannelKind,
    name: Type.String(),
    settings: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
      description: 'The settings of the kind. Secrets are omitted; a secret URL is only its host',
    }),
    isForAccount: Type.Boolean({ description: 'Whether the user settings name it' }),
    isActive: Type.Boolean(),
    status: WebhookStatus,
    isConfirmed: Type.Boolean({ description: 'False for an `email` whose link has not been opened' }),
    quiet: nullable(
      Type.Object({ from: Time, to: Time, timezone: Type.String() }, { description: QuietHours.description }),
    ),
    minIntervalMinutes: nullable(MinInterval),
    digest: Digest,
    digestHour: nullable(DigestHour),
    digestTimezone: nullable(Type.String()),
    urgent: Urgent,
    createdAt: Instant,
  },
  { $id: 'Channel' },
);
export type Channel = Static<typeof Channel>;

const options = {
  ...settings,
  quiet: Type.Optional(nullable(QuietHours)),
  minIntervalMinutes: Type.Optional(nullable(MinInterval)),
  digest: Type.Optional({ ...Digest, description: `${Digest.description}. Default: \`off\`` }),
  digestHour: Type.Optional({ ...DigestHour, description: `${DigestHour.description}. Default: 8` }),
  digestTimezone: Type.Optional({
    ...TimeZone,
    description: "IANA time zone name for `digestHour`. Default: the account's time zone, or UTC",
  }),
  urgent: Type.Optional({ ...Urgent, description: `${Urgent.description}. Default: false` }),
};

export const CreateChannelInput = strictObject({ kind: ChannelKind, name: OwnName, ...options });
export type CreateChannelInput = Static<typeof CreateChannelInput>;

export const ChangeChannelInput = strictObject({
  name: Type.Optional(OwnName),
  isActive: Type.Optional(
    Type.Boolean({
      description: 'Also switches a failed channel on again. Mails another link to an unconfirmed address',
    }),
  ),
  ...options,
  token: Type.Optional(
    nullable(Type.String({ minLength: 1, maxLength: 500, description: 'Of `ntfy`: an access token; null for none' })),
  ),
});
export type ChangeChannelInput = Static<typeof ChangeChannelInput>;

const common = { tags: ['channels'], security: SIGNED_IN };
const CHANNEL_QUOTA = 'There are 20 channels already';

export const createChannel = {
  ...common,
  operationId: 'createChannel',
  summary: 'Create a channel',
  description:
    'Stores where results and alerts are sent: a chat, a phone or a mailbox. Tasks name channels in `channels`, the user settings name them for notifications. Settings that are secrets are encrypted and never returned. Sent twice without an `Idempotency-Key`, it creates two channels.',
  body: CreateChannelInput,
  response: {
    201: Type.Object({ success, channel: ref(Channel) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 402: CHANNEL_QUOTA }),
  },
} satisfies Operation;

export const ListChannelsQuery = Type.Object({ limit: pageLimit(20), offset: Offset });
export type ListChannelsQuery = Static<typeof ListChannelsQuery>;

export const listChannels = {
  ...common,
  operationId: 'listChannels',
  summary: 'List channels',
  description: "Returns the caller's channels, newest first. Pages by `limit` and `offset`.",
  querystring: ListChannelsQuery,
  response: {
    200: Type.Object({
      success,
      channels: Type.Array(ref(Channel)),
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

export const getChannel = {
  ...common,
  operationId: 'getChannel',
  summary: 'Get a channel',
  description: 'Returns a channel without its secrets.',
  params: ChannelParams,
  headers: IfNoneMatch,
  response: { 200: Type.Object({ success, channel: ref(Channel) }), ...NOT_MODIFIED, ...errorResponses(401, 404, 429) },
} satisfies Operation;

export const changeChannel = {
  ...common,
  operationId: 'changeChannel',
  summary: 'Change a channel',
  description:
    'Changes the fields that are given. Settings of the kind that are left out stay as they are, but another server needs its secrets again; `null` ends `quiet` or `minIntervalMinutes`. `isActive: false` sends nothing more until it is switched on.',
  params: ChannelParams,
  headers: IfMatch,
  body: ChangeChannelInput,
  response: { 200: Type.Object({ success, channel: ref(Channel) }), ...errorResponses(401, 403, 404, 412, 429) },
} satisfies Operation;

export const deleteChannel = {
  ...common,
  operationId: 'deleteChannel',
  summary: 'Delete a channel',
  description: 'Deletes a channel with its log, and removes it from tasks and settings.',
  params: ChannelParams,
  headers: IfMatch,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 403, 404, 412, 429),
  },
} satisfies Operation;
