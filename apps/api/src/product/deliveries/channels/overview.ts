import type { Channel } from '@carillon/contract/channels/channels';
import type { MessageEvent } from '@carillon/contract/channels/deliveries';
import { type deliveries, queryRows, toInstant, toInstantOrNull } from '@carillon/db';
import type { Reader } from '@carillon/texts';
import { type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { isConfirmedSql } from '../../../platform/queries/channel-choices.ts';
import { decodeCreationCursor, splitPage, toCreationKey } from '../../../platform/queries/pages.ts';
import { readMessage, type StoredPayload } from '../messages/read-message.ts';
import { channelNotFound } from './read.ts';

const PAGE = 25;
const LATEST = 30;
const SHOWN_TASKS = 5;
const SHOWN_ITEMS = 20;
const SHOWN_ATTEMPTS = 10;
/** Deliveries that are searched for what waits and what failed, however many there are. */
const SEARCHED = 1000;
/** A larger payload, such as that of a long digest, is not read for a list. */
const MAX_READ_CHARACTERS = 200_000;

type Status = (typeof deliveries.$inferSelect)['status'];
type Settings = Omit<Channel, 'createdAt'> & { createdAt: string };

interface OverviewRow extends Settings {
  tasks: { taskId: number; taskName: string }[];
  taskCount: number;
  latest: { status: Status; attempt: number; event: MessageEvent; createdAt: string }[];
}

interface AttemptRow {
  at: string;
  attempt: number;
  success: boolean;
  statusCode: number | null;
  responseTimeMs: number;
  error: string | null;
}

interface DeliveryRow {
  id: string;
  event: MessageEvent;
  status: Status;
  attempt: number;
  createdAt: string;
  nextAttemptAt: string | null;
  payload: string | null;
  digest: { status: Status; attempt: number; createdAt: string } | null;
  attempts: AttemptRow[];
}

/** Of the channel `c`. */
const channelColumns = sql`c.id, c.kind, c.name, coalesce(c.shown_settings, '{}') as settings, c.is_for_account,
  c.status = 'active' as is_active, c.status,
  c.kind <> 'email' or ${isConfirmedSql(sql`c.user_id`, sql`c.shown_settings->>'address'`)} as is_confirmed,
  c.quiet, c.min_interval_minutes, c.digest, c.digest_hour, c.digest_timezone, c.urgent, c.created_at`;

const latestDeliveries = sql`(select coalesce(json_agg(json_build_object('status', d.status, 'attempt', d.attempt,
    'event', d.event, 'createdAt', d.created_at) order by d.created_at desc), '[]')
  from (select status, attempt, event, created_at from deliveries where webhook_id = c.id
    order by created_at desc limit ${LATEST}) d) as latest`;

const attemptObject = sql.raw(`json_build_object('at', a.attempted_at, 'attempt', a.attempt, 'success', a.success,
  'statusCode', a.status_code, 'responseTimeMs', a.response_time_ms, 'error', a.error)`);

/** As `u`: the tasks of each channel of a user. The tasks of the user are read once, however many channels there are. */
const usedBy = (userId: number): SQL => sql`(
  select channel, count(*)::int as task_count,
    json_agg(json_build_object('taskId', id, 'taskName', name) order by id desc) filter (where place <= ${SHOWN_TASKS}) as tasks
  from (select t.id, t.name, channel, row_number() over (partition by channel order by t.id desc) as place
    from tasks t cross join unnest(t.channels) channel where t.user_id = ${userId}) t
  group by channel) u`;

const toChannel = <R extends Settings>({ createdAt, ...row }: R) => ({ ...row, createdAt: toInstant(createdAt) });

const toOverview = <R extends OverviewRow>(row: R) => ({
  ...toChannel(row),
  latest: row.latest.map((one) => ({ ...one, createdAt: toInstant(one.createdAt) })),
});

const toAttempt = ({ at, ...attempt }: AttemptRow) => ({ ...attempt, at: toInstant(at) });

/** The caller's channels with their tasks and latest deliveries, newest first. One statement. */
export async function listChannelOverviews({ db }: Context, caller: Caller) {
  const rows = await queryRows<OverviewRow>(
    db,
    sql`
    select ${channelColumns}, coalesce(u.task_count, 0) as task_count, coalesce(u.tasks, '[]') as tasks,
      ${latestDeliveries}
    from endpoints c left join ${usedBy(caller.id)} on u.channel = c.id
    where c.user_id = ${caller.id} and c.purpose = 'channel' order by c.created_at desc, c.id desc`,
  );
  return { channels: rows.map(toOverview) };
}

/** A channel as its forms need it. Throws 404. */
export async function getChannelForForm({ db }: Context, caller: Caller, id: string) {
  const [row] = await queryRows<Settings & { revision: number; taskCount: number }>(
    db,
    sql`
    select ${channelColumns}, c.revision,
      (select count(*)::int from tasks t where t.user_id = c.user_id and c.id = any(t.channels)) as task_count
    from endpoints c where c.id = ${id} and c.user_id = ${caller.id} and c.purpose = 'channel'`,
  );
  if (!row) throw channelNotFound();
  return toChannel(row);
}

/** A channel with a page of its deliveries, newest first. Throws 404. Two statements. */
export async function showChannel(ctx: Context, caller: Caller, { id, cursor }: { id: string; cursor?: string }) {
  const before = decodeCreationCursor(cursor);
  const [channel, rows] = await Promise.all([
    readChannelState(ctx, caller, id),
    queryRows<DeliveryRow>(
      ctx.db,
      sql`
      select d.id, d.event, d.status, d.attempt, d.created_at, d.next_attempt_at,
        case when g.id is not null then
          json_build_object('status', g.status, 'attempt', g.attempt, 'createdAt', g.created_at) end as digest,
        case when length(d.payload) <= ${MAX_READ_CHARACTERS} then d.payload end as payload,
        (select coalesce(json_agg(${attemptObject} order by a.attempted_at desc), '[]') from (
          select * from delivery_attempts where delivery_id = d.id
          order by attempted_at desc limit ${SHOWN_ATTEMPTS}) a) as attempts
      from (select d.* from endpoints c cross join lateral (
          select * from deliveries d where d.webhook_id = c.id ${
            before === null
              ? sql.empty()
              : sql`and (d.created_at, d.id) < (${before.createdAt.toISOString()}::timestamptz, ${before.id}::uuid)`
          } order by d.created_at desc, d.id desc limit ${PAGE + 1}) d
        where c.id = ${id} and c.user_id = ${caller.id} and c.purpose = 'channel') d
      left join deliveries g on g.id = d.digest_id
      order by d.created_at desc, d.id desc`,
    ),
  ]);
  const found = rows.map((row) => toDelivery(ctx, caller, row));
  const { page, nextCursor } = splitPage(found, PAGE, toCreationKey);
  return { channel, deliveries: page, nextCursor };
}

interface StateRow extends OverviewRow {
  waiting: number;
  failed: number;
  lastAttempt: AttemptRow | null;
}

async function readChannelState({ db }: Context, caller: Caller, id: string) {
  const [row] = await queryRows<StateRow>(
    db,
    sql`
    select ${channelColumns}, coalesce(u.task_count, 0) as task_count, coalesce(u.tasks, '[]') as tasks,
      ${latestDeliveries}, counted.waiting, counted.failed,
      (select ${attemptObject} from delivery_attempts a where a.webhook_id = c.id
        order by a.attempted_at desc limit 1) as last_attempt
    from endpoints c left join ${usedBy(caller.id)} on u.channel = c.id cross join lateral (
      select (count(*) filter (where status in ('pending', 'sending', 'held')))::int as waiting,
        (count(*) filter (where status = 'failed' and event <> 'test'))::int as failed
      from (select status, event from deliveries where webhook_id = c.id
        order by created_at desc limit ${SEARCHED}) d) counted
    where c.id = ${id} and c.user_id = ${caller.id} and c.purpose = 'channel'`,
  );
  if (!row) throw channelNotFound();
  return { ...toOverview(row), lastAttempt: row.lastAttempt && toAttempt(row.lastAttempt) };
}

function toDelivery(
  ctx: Context,
  reader: Reader,
  { payload, createdAt, nextAttemptAt, digest, attempts, ...row }: DeliveryRow,
) {
  return {
    ...row,
    ...describePayload(ctx, reader, row.event, payload),
    createdAt: toInstant(createdAt),
    nextAttemptAt: toInstantOrNull(nextAttemptAt),
    digest: digest && { ...digest, createdAt: toInstant(digest.createdAt) },
    attempts: attempts.map(toAttempt),
  };
}

/** What the message says at its top, and where it leads. */
function describePayload(ctx: Context, reader: Reader, event: MessageEvent, payload: string | null) {
  if (payload === null) return { title: null, path: null, items: [] };
  const { title, url, items } = readMessage(ctx, JSON.parse(payload) as StoredPayload, reader);
  const path = event === 'test' || event === 'digest' ? null : new URL(url).pathname;
  return { title, path, items: items.slice(0, SHOWN_ITEMS).map((item) => item.title) };
}
