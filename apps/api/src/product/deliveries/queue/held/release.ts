import { randomUUID } from 'node:crypto';
import type { EventData } from '@carillon/contract/webhooks/events';
import { type ChannelKind, deliveries, endpoints, queryRows, toInstant, toInstantOrNull } from '@carillon/db';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../../context.ts';
import { isUrgentSql } from '../../../../platform/events/held.ts';
import { inTransaction } from '../../../../transaction.ts';
import { cutText } from '../../messages/format/text.ts';
import type { DigestData, StoredPayload } from '../../messages/read-message.ts';
import { endDelivery } from '../leases.ts';
import { computeReleaseAt, type Holding } from './release-at.ts';

const CHANNELS_PER_BATCH = 100;
/** A channel that is off is looked at again when it is switched on, or the account is. */
const OFF_MS = 3_600_000;
/** Bounds one digest. The rest stays held for the next one. */
const MAX_GROUPED = 10_000;

/** For each channel with held deliveries that are due: sends them now, or sets the instant when it may. */
export async function releaseHeld(ctx: Context): Promise<void> {
  let found: { webhookId: string }[];
  let seen = 0;
  do {
    found = await queryRows<{ webhookId: string }>(
      ctx.db,
      sql`select webhook_id from deliveries where status = 'held' and next_attempt_at <= ${toTimestamp(ctx.now())}
        group by webhook_id order by min(next_attempt_at), webhook_id limit ${CHANNELS_PER_BATCH}`,
    );
    seen = 0;
    for (const { webhookId } of found) if (await releaseChannel(ctx, webhookId)) seen += 1;
  } while (found.length === CHANNELS_PER_BATCH && seen > 0 && !ctx.worker.stopping.aborted);
}

/** Has held deliveries of a channel looked at again, because its settings or its status changed. */
export async function reconsiderHeld({ db, now }: Context, channelId: string): Promise<void> {
  const isHeld = and(eq(deliveries.webhookId, channelId), eq(deliveries.status, 'held'));
  await db.update(deliveries).set({ nextAttemptAt: now() }).where(isHeld);
}

interface Channel extends Holding {
  status: 'active' | 'inactive' | 'failed';
  isUserActive: boolean;
  kind: ChannelKind;
  urgent: boolean;
}

/** Returns false if another process works on the channel, or it was deleted. */
function releaseChannel(ctx: Context, id: string): Promise<boolean> {
  return inTransaction(ctx, async (tx) => {
    const channel = await lockChannel(tx, id);
    if (!channel) return false;
    const held = sql`webhook_id = ${id} and status = 'held'`;
    const now = tx.now();
    if (channel.status === 'failed') {
      await queryRows(tx.db, sql`update deliveries set ${endDelivery(toTimestamp(now))} where ${held}`);
    } else if (channel.status === 'inactive' || !channel.isUserActive) {
      await putOff(tx, held, new Date(now.getTime() + OFF_MS));
    } else {
      if (channel.urgent) await queueDeliveries(tx, sql`${held} and ${isUrgentSql}`);
      await release(tx, id, channel, held);
    }
    return true;
  });
}

async function lockChannel({ db }: Context, id: string): Promise<Channel | undefined> {
  const [found] = await queryRows<Omit<Channel, 'lastSentAt'> & { lastSentAt: string | null }>(
    db,
    sql`select h.status, u.is_active as is_user_active, h.kind, h.urgent, h.quiet, h.min_interval_minutes, h.digest,
        h.digest_hour, h.digest_timezone, h.last_sent_at
      from endpoints h join users u on u.id = h.user_id where h.id = ${id} for no key update of h skip locked`,
  );
  return found && { ...found, lastSentAt: toInstantOrNull(found.lastSentAt) };
}

async function release(tx: Context, id: string, channel: Channel, held: SQL): Promise<void> {
  // Alerts are in the digest before anything else, then what is newest.
  const rows = await queryRows<{ id: string; createdAt: string; payload: string | null }>(
    tx.db,
    sql`select id, created_at, case when position <= ${MAX_MESSAGES} then payload end as payload from (
        select d.*, row_number() over (order by ${isUrgentSql} desc, created_at desc, id) as position
        from deliveries d where ${held} order by position limit ${MAX_GROUPED}) d
      order by created_at, id`,
  );
  const [oldest] = rows;
  if (!oldest) return;
  const now = tx.now();
  const at = computeReleaseAt(channel, toInstant(oldest.createdAt), now);
  if (at > now) return putOff(tx, held, at);
  const ids = sql`id = any(${`{${rows.map((row) => row.id).join(',')}}`}::uuid[])`;
  if (rows.length === 1) await queueDeliveries(tx, ids);
  else {
    const digestId = randomUUID();
    const payloads = rows.flatMap(({ payload }) => payload ?? []);
    await tx.db.insert(deliveries).values({
      id: digestId,
      webhookId: id,
      event: 'digest',
      payload: buildDigest(payloads, rows.length - payloads.length, now),
      requestId: randomUUID(),
      status: 'pending',
      nextAttemptAt: now,
      queuedAt: now,
      createdAt: now,
    });
    await queryRows(
      tx.db,
      sql`update deliveries set status = 'digested', digest_id = ${digestId}, ended_at = ${toTimestamp(now)},
        next_attempt_at = null where ${ids}`,
    );
  }
  await tx.db.update(endpoints).set({ lastSentAt: now }).where(eq(endpoints.id, id));
}

const queueDeliveries = ({ db, now }: Context, which: SQL) =>
  queryRows(
    db,
    sql`update deliveries d set status = 'pending', next_attempt_at = ${toTimestamp(now())}, queued_at = ${toTimestamp(now())}
      where ${which}`,
  );

async function putOff({ db }: Context, held: SQL, until: Date): Promise<void> {
  await queryRows(db, sql`update deliveries set next_attempt_at = ${toTimestamp(until)} where ${held}`);
}

const toTimestamp = (at: Date): SQL => sql`${at.toISOString()}::timestamptz`;

/** The messages that a digest has at most. The rest is counted. */
const MAX_MESSAGES = 100;
const MAX_RESULT = 4000;
const MAX_CHANGES = 20;

/** The body of a digest of stored bodies, oldest first, without the ends of long answers. */
export function buildDigest(payloads: readonly string[], leftOut: number, at: Date): string {
  const messages = payloads.map((payload) => shorten(JSON.parse(payload) as StoredPayload));
  const data: DigestData = { messages, ...(leftOut > 0 && { leftOut }) };
  return JSON.stringify({ event: 'digest', timestamp: at.toISOString(), data });
}

function shorten({ event, timestamp, data, isCut }: StoredPayload): StoredPayload {
  if (event !== 'execution.completed') return { event, timestamp, data };
  const { task, execution } = data as EventData<'execution.completed'>;
  const { output: _output, result, changes, ...rest } = execution;
  const cut = {
    ...rest,
    result: result === null ? null : cutText(result, MAX_RESULT),
    ...(changes && { changes: changes.slice(0, MAX_CHANGES) }),
  };
  return { event, timestamp, data: { task, execution: cut }, ...(isCut && { isCut }) };
}
