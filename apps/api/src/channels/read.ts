import type { ListChannelsQuery } from '@carillon/contract/channels/channels';
import type { ListChannelLogsQuery, MessageEvent } from '@carillon/contract/channels/deliveries';
import { type ChannelKind, type ShownSettings, webhooks } from '@carillon/db';
import { and, desc, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { isConfirmedSql } from '../queries/confirmed-address.ts';
import { listDeliveries, type OwnReceiver } from '../webhooks/read.ts';
import type { LogEntry } from '../webhooks/test-delivery.ts';

export const isChannel = eq(webhooks.purpose, 'channel');

const isConfirmed = isConfirmedSql(sql`"webhooks"."user_id"`, sql`"webhooks"."shown_settings" ->> 'address'`);

/** What may be shown of a channel, with its revision. */
export const channelFields = {
  id: webhooks.id,
  kind: sql<ChannelKind>`${webhooks.kind}`,
  name: sql<string>`${webhooks.name}`,
  settings: sql<ShownSettings>`${webhooks.shownSettings}`.mapWith(webhooks.shownSettings),
  isForAccount: webhooks.isForAccount,
  isActive: sql<boolean>`${webhooks.status} = 'active'`,
  status: webhooks.status,
  isConfirmed: sql<boolean>`${webhooks.kind} <> 'email' or ${isConfirmed}`,
  quiet: webhooks.quiet,
  minIntervalMinutes: webhooks.minIntervalMinutes,
  digest: webhooks.digest,
  digestHour: webhooks.digestHour,
  digestTimezone: webhooks.digestTimezone,
  urgent: webhooks.urgent,
  createdAt: webhooks.createdAt,
  revision: webhooks.revision,
};

export const isOwnChannel = (caller: Pick<Caller, 'id'>, id: string) =>
  and(eq(webhooks.id, id), eq(webhooks.userId, caller.id), isChannel);

export const channelNotFound = () => new AppError('not_found', 'Channel not found');

export const ownChannel = (caller: Pick<Caller, 'id'>, id: string): OwnReceiver => ({
  id,
  where: isOwnChannel(caller, id),
  notFound: channelNotFound,
  inactive: 'The channel is not active. Switch it on first.',
});

/** Throws 404 unless the caller owns the channel. */
export async function getChannel(ctx: Context, caller: Caller, id: string) {
  const [channel] = await ctx.db.select(channelFields).from(webhooks).where(isOwnChannel(caller, id));
  if (!channel) throw channelNotFound();
  return channel;
}

/** Newest first. */
export async function listChannels(ctx: Context, caller: Caller, { limit, offset }: ListChannelsQuery) {
  const mine = and(eq(webhooks.userId, caller.id), isChannel);
  const [page, total] = await Promise.all([
    ctx.db
      .select(channelFields)
      .from(webhooks)
      .where(mine)
      .orderBy(desc(webhooks.createdAt), desc(webhooks.id))
      .limit(limit)
      .offset(offset),
    ctx.db.$count(webhooks, mine),
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
