import type { ListChannelsQuery } from '@carillon/contract/channels/channels';
import type { ListChannelLogsQuery, MessageEvent } from '@carillon/contract/channels/deliveries';
import { type ChannelKind, endpoints, type ShownSettings } from '@carillon/db';
import { and, desc, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { isConfirmedSql } from '../../../platform/queries/channel-choices.ts';
import type { OwnEndpoint } from '../queue/endpoint.ts';
import { listDeliveries } from '../queue/log.ts';
import type { LogEntry } from '../queue/test-delivery.ts';

export const isChannel = eq(endpoints.purpose, 'channel');

const isConfirmed = isConfirmedSql(sql`"endpoints"."user_id"`, sql`"endpoints"."shown_settings" ->> 'address'`);

/** What may be shown of a channel, with its revision. */
export const channelFields = {
  id: endpoints.id,
  kind: sql<ChannelKind>`${endpoints.kind}`,
  name: sql<string>`${endpoints.name}`,
  settings: sql<ShownSettings>`${endpoints.shownSettings}`.mapWith(endpoints.shownSettings),
  isForAccount: endpoints.isForAccount,
  isActive: sql<boolean>`${endpoints.status} = 'active'`,
  status: endpoints.status,
  isConfirmed: sql<boolean>`${endpoints.kind} <> 'email' or ${isConfirmed}`,
  quiet: endpoints.quiet,
  minIntervalMinutes: endpoints.minIntervalMinutes,
  digest: endpoints.digest,
  digestHour: endpoints.digestHour,
  digestTimezone: endpoints.digestTimezone,
  urgent: endpoints.urgent,
  createdAt: endpoints.createdAt,
  revision: endpoints.revision,
};

export const isOwnChannel = (caller: Pick<Caller, 'id'>, id: string) =>
  and(eq(endpoints.id, id), eq(endpoints.userId, caller.id), isChannel);

export const channelNotFound = () => new AppError('not_found', 'Channel not found');

export const ownChannel = (caller: Pick<Caller, 'id'>, id: string): OwnEndpoint => ({
  id,
  where: isOwnChannel(caller, id),
  notFound: channelNotFound,
  inactive: 'The channel is not active. Switch it on first.',
});

/** Throws 404 unless the caller owns the channel. */
export async function getChannel(ctx: Context, caller: Caller, id: string) {
  const [channel] = await ctx.db.select(channelFields).from(endpoints).where(isOwnChannel(caller, id));
  if (!channel) throw channelNotFound();
  return channel;
}

/** Newest first. */
export async function listChannels(ctx: Context, caller: Caller, { limit, offset }: ListChannelsQuery) {
  const mine = and(eq(endpoints.userId, caller.id), isChannel);
  const [page, total] = await Promise.all([
    ctx.db
      .select(channelFields)
      .from(endpoints)
      .where(mine)
      .orderBy(desc(endpoints.createdAt), desc(endpoints.id))
      .limit(limit)
      .offset(offset),
    ctx.db.$count(endpoints, mine),
  ]);
  return { channels: page, pagination: { total, limit, offset, hasMore: offset + page.length < total } };
}

/** The entry of a log without the address, part of which may be a secret. */
export const toChannelEntry = ({ webhookId: channelId, event, url: _url, ...entry }: LogEntry) => ({
  ...entry,
  channelId,
  event: event as MessageEvent,
});

/** The attempts of a channel, newest first: the last 100 and those of open deliveries. Throws 404. */
export async function listChannelLogs(ctx: Context, caller: Caller, id: string, query: ListChannelLogsQuery) {
  const { logs, pagination } = await listDeliveries(ctx, ownChannel(caller, id), query);
  return { logs: logs.map(toChannelEntry), pagination };
}
