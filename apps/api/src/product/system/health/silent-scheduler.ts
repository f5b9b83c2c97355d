import { queryRows, toInstant, users } from '@carillon/db';
import { describeMoment, getTexts, type Reader } from '@carillon/texts';
import { and, eq, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { recordEvents } from '../../../platform/events/outbox.ts';
import { inTransaction } from '../../../transaction.ts';
import { notifyUsers } from '../../notifications/write.ts';

const SILENT_AFTER_MS = 120_000;
/** A process records calls of the scheduler no more often than this. */
const RECORD_MS = 10_000;

/**
 * Whether the scheduler has not called for two minutes. Counts from the start of the process if that is later: a new
 * installation, and a restored backup, have no call yet.
 */
export const isSchedulerSilent = (lastCalledAt: Date, startedAt: Date, now: Date): boolean =>
  now.getTime() - Math.max(lastCalledAt.getTime(), startedAt.getTime()) >= SILENT_AFTER_MS;

/** Returns the function that records a call of the scheduler, and notifies admins of the first one after a silence. */
export function createCallRecorder(ctx: Context): () => Promise<void> {
  let recordedAt: number | null = null;
  return async () => {
    const now = ctx.now();
    if (recordedAt !== null && Math.abs(now.getTime() - recordedAt) < RECORD_MS) return;
    await inTransaction(ctx, (tx) => recordCall(tx, now));
    recordedAt = now.getTime();
  };
}

async function recordCall(tx: Context, now: Date): Promise<void> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const precision = sql`interval '${sql.raw(String(RECORD_MS / 1000))} seconds'`;
  // Of processes that record at once, the second one finds the row unlike its condition.
  const [was] = await queryRows<{ silentSince: string | null }>(
    tx.db,
    sql`
    update scheduler_state s set last_called_at = ${at}, silent_since = null from scheduler_state was
    where was.id = s.id
      and (s.silent_since is not null or s.last_called_at not between ${at} - ${precision} and ${at} + ${precision})
    returning was.silent_since`,
  );
  if (!was?.silentSince) return;
  await reportState(tx, 'back', toInstant(was.silentSince));
}

/** Notifies the admins of a silent scheduler, once for each silence. Called by the API processes: the scheduler cannot. */
export function reportSilence(ctx: Context, startedAt: Date): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const now = tx.now();
    const before = new Date(now.getTime() - SILENT_AFTER_MS);
    if (startedAt > before) return;
    const [silent] = await queryRows<{ lastCalledAt: string }>(
      tx.db,
      sql`
      update scheduler_state set silent_since = ${now.toISOString()}::timestamptz
      where silent_since is null and last_called_at <= ${before.toISOString()}::timestamptz
      returning last_called_at`,
    );
    if (!silent) return;
    const lastCalledAt = toInstant(silent.lastCalledAt);
    tx.log.error({ lastCalledAt }, 'the scheduler is silent');
    const admins = await reportState(tx, 'silent', lastCalledAt);
    recordEvents(
      tx,
      admins.map(({ id }) => ({ kind: 'scheduler.silent' as const, userId: id, data: { lastCalledAt } })),
    );
  });
}

const reportState = (tx: Context, state: 'silent' | 'back', since: Date) =>
  notifyAdmins(tx, (reader) => {
    const { notices } = getTexts(reader.language);
    const moment = describeMoment(since, reader);
    const [title, message] =
      state === 'silent'
        ? [notices.schedulerSilent, notices.schedulerSilentText(moment)]
        : [notices.schedulerBack, notices.schedulerBackText(moment)];
    return { kind: `scheduler.${state}`, title, message };
  });

/** Returns the active admins. */
export async function notifyAdmins(
  tx: Context,
  describe: (reader: Reader) => { kind: string; title: string; message: string },
) {
  const admins = await tx.db
    .select({ id: users.id, language: users.language, timezone: users.timezone })
    .from(users)
    .where(and(eq(users.role, 'ADMIN'), eq(users.isActive, true)))
    .orderBy(users.id);
  await notifyUsers(
    tx,
    admins.map(({ id, ...reader }) => ({ userId: id, path: '/admin', ...describe(reader) })),
  );
  return admins;
}
