import type { EventKind } from '@carillon/contract/webhooks/events';
import type { WebhookPurpose, WebhookStatus } from '@carillon/contract/webhooks/webhooks';
import { type deliveries, endpoints, queryRows, tasks, toInstant, toInstantOrNull } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { decodeCreationCursor, splitPage, toCreationKey } from '../../../platform/queries/pages.ts';
import { isOwnWebhook, secretVersion, webhookFields, webhookNotFound } from './read.ts';

const PAGE = 25;
const LATEST = 30;
/** Deliveries that are searched for what waits and what failed, however many there are. */
const SEARCHED = 1000;
const SHOWN_ATTEMPTS = 10;
const ALL_ATTEMPTS = 100;
const PAYLOAD_CHARACTERS = 100_000;

/** The rest is of channels. */
type DeliveryStatus = Exclude<(typeof deliveries.$inferSelect)['status'], 'held' | 'digested'>;

interface OverviewRow {
  id: string;
  purpose: WebhookPurpose;
  taskId: number | null;
  taskName: string | null;
  url: string;
  events: EventKind[];
  description: string | null;
  status: WebhookStatus;
  createdAt: string;
  latest: { status: DeliveryStatus; attempt: number; event: EventKind; createdAt: string }[];
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
  event: EventKind;
  status: DeliveryStatus;
  attempt: number;
  createdAt: string;
  nextAttemptAt: string | null;
  attempts: AttemptRow[];
}

const overviewColumns = sql.raw(
  'h.id, h.purpose, h.task_id, t.name as task_name, h.url, h.events, h.description, h.status, h.created_at',
);

const latestDeliveries = sql`(select coalesce(json_agg(json_build_object('status', d.status, 'attempt', d.attempt,
    'event', d.event, 'createdAt', d.created_at) order by d.created_at desc), '[]')
  from (select status, attempt, event, created_at from deliveries where webhook_id = h.id
    order by created_at desc limit ${LATEST}) d) as latest`;

const attemptObject = sql.raw(`json_build_object('at', a.attempted_at, 'attempt', a.attempt, 'success', a.success,
  'statusCode', a.status_code, 'responseTimeMs', a.response_time_ms, 'error', a.error)`);

/** Of the delivery `d`, newest first. */
const attemptsOf = (
  limit: number,
) => sql`(select coalesce(json_agg(${attemptObject} order by a.attempted_at desc), '[]')
  from (select * from delivery_attempts where delivery_id = d.id order by attempted_at desc limit ${limit}) a) as attempts`;

const toOverview = <R extends OverviewRow>({ createdAt, latest, ...row }: R) => ({
  ...row,
  createdAt: toInstant(createdAt),
  latest: latest.map((one) => ({ ...one, createdAt: toInstant(one.createdAt) })),
});

const toAttempt = ({ at, ...attempt }: AttemptRow) => ({ ...attempt, at: toInstant(at) });

const toDelivery = <R extends DeliveryRow>({ createdAt, nextAttemptAt, attempts, ...row }: R) => ({
  ...row,
  createdAt: toInstant(createdAt),
  nextAttemptAt: toInstantOrNull(nextAttemptAt),
  attempts: attempts.map(toAttempt),
});

const isBefore = (alias: 'h' | 'd', cursor: string | undefined) => {
  const before = decodeCreationCursor(cursor);
  const key = sql.raw(`(${alias}.created_at, ${alias}.id)`);
  return before === null
    ? sql.empty()
    : sql`and ${key} < (${before.createdAt.toISOString()}::timestamptz, ${before.id}::uuid)`;
};

/** The caller's webhooks with their latest deliveries, newest first. */
export async function listWebhookOverviews({ db }: Context, caller: Caller, { cursor }: { cursor?: string }) {
  const rows = await queryRows<OverviewRow>(
    db,
    sql`
    select ${overviewColumns}, ${latestDeliveries}
    from (select * from endpoints h where user_id = ${caller.id} and kind = 'webhook' ${isBefore('h', cursor)}
      order by h.created_at desc, h.id desc limit ${PAGE + 1}) h left join tasks t on t.id = h.task_id
    order by h.created_at desc, h.id desc`,
  );
  const { page, nextCursor } = splitPage(rows.map(toOverview), PAGE, toCreationKey);
  return { webhooks: page, nextCursor };
}

/** A webhook as its forms need it. Throws 404. */
export async function getWebhookForForm({ db }: Context, caller: Caller, id: string) {
  const [webhook] = await db
    .select({ ...webhookFields, taskName: tasks.name, secretVersion })
    .from(endpoints)
    .leftJoin(tasks, eq(tasks.id, endpoints.taskId))
    .where(isOwnWebhook(caller, id));
  if (!webhook) throw webhookNotFound();
  return webhook;
}

/** A webhook with a page of its deliveries, newest first. Throws 404. Two statements. */
export async function showWebhook(ctx: Context, caller: Caller, { id, cursor }: { id: string; cursor?: string }) {
  const [webhook, rows] = await Promise.all([
    readWebhookState(ctx, caller, id),
    queryRows<DeliveryRow>(
      ctx.db,
      sql`
      select d.id, d.event, d.status, d.attempt, d.created_at, d.next_attempt_at, ${attemptsOf(SHOWN_ATTEMPTS)}
      from (select d.* from endpoints h cross join lateral (
          select id, event, status, attempt, created_at, next_attempt_at from deliveries d
          where d.webhook_id = h.id ${isBefore('d', cursor)}
          order by d.created_at desc, d.id desc limit ${PAGE + 1}) d
        where h.id = ${id} and h.user_id = ${caller.id} and h.kind = 'webhook') d
      order by d.created_at desc, d.id desc`,
    ),
  ]);
  const { page, nextCursor } = splitPage(rows.map(toDelivery), PAGE, toCreationKey);
  return { webhook, deliveries: page, nextCursor };
}

interface StateRow extends OverviewRow {
  previousSecretUntil: string | null;
  waiting: number;
  failed: number;
  lastAttempt: AttemptRow | null;
}

async function readWebhookState({ db }: Context, caller: Caller, id: string) {
  const [row] = await queryRows<StateRow>(
    db,
    sql`
    select ${overviewColumns}, ${latestDeliveries}, h.previous_secret_until, counted.waiting, counted.failed,
      (select ${attemptObject} from delivery_attempts a where a.webhook_id = h.id
        order by a.attempted_at desc limit 1) as last_attempt
    from endpoints h left join tasks t on t.id = h.task_id cross join lateral (
      select (count(*) filter (where status in ('pending', 'sending')))::int as waiting,
        (count(*) filter (where status = 'failed' and event <> 'test'))::int as failed
      from (select status, event from deliveries where webhook_id = h.id
        order by created_at desc limit ${SEARCHED}) d) counted
    where h.id = ${id} and h.user_id = ${caller.id} and h.kind = 'webhook'`,
  );
  if (!row) throw webhookNotFound();
  const { previousSecretUntil, lastAttempt, ...overview } = row;
  return {
    ...toOverview(overview),
    previousSecretUntil: toInstantOrNull(previousSecretUntil),
    lastAttempt: lastAttempt && toAttempt(lastAttempt),
  };
}

interface PayloadRow extends DeliveryRow {
  url: string;
  description: string | null;
  webhookStatus: WebhookStatus;
  requestId: string;
  payload: string;
  payloadCharacters: number;
}

/** A delivery with all its attempts and the beginning of its body. Throws 404. */
export async function getDelivery(
  { db }: Context,
  caller: Caller,
  { id, deliveryId }: { id: string; deliveryId: string },
) {
  const [row] = await queryRows<PayloadRow>(
    db,
    sql`
    select d.id, d.event, d.status, d.attempt, d.created_at, d.next_attempt_at, ${attemptsOf(ALL_ATTEMPTS)}, h.url, h.description,
      h.status as webhook_status, d.request_id, left(d.payload, ${PAYLOAD_CHARACTERS}) as payload,
      length(d.payload) as payload_characters
    from deliveries d join endpoints h on h.id = d.webhook_id
    where d.id = ${deliveryId} and h.id = ${id} and h.user_id = ${caller.id} and h.kind = 'webhook'`,
  );
  if (!row) throw new AppError('not_found', 'Delivery not found');
  return toDelivery(row);
}
