import { queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { BATCH, type Look, type LookBehind, lookThrough } from './batches.ts';
import { pruneDeliveries } from './deliveries.ts';
import { pruneExecutions } from './executions.ts';
import { pruneOccurrences } from './occurrences.ts';
import { pruneUploads } from './uploads.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The clocks of two processes differ: what has only just ended for one may still count for another. */
const MARGIN_MS = 60_000;
/** A look that has deleted so much is followed by another one at once. */
const PLENTY = BATCH / 10;
/** A reset token reads as unknown from then on; mail is kept for so long once it was sent or given up. */
const KEPT_DAYS = 30;

/** What is kept for days that the configuration says, and what is over when its own time has passed. */
export const PRUNED = [
  'executions',
  'occurrences',
  'deliveries',
  'audit entries',
  'files',
  'rate-limit windows',
  'sessions',
  'reset tokens',
  'mails',
] as const;
export type Pruned = (typeof PRUNED)[number];

/**
 * Deletes all that is older than the configuration keeps it (`RETENTION_*`), and what is over and nobody looks at any
 * more, in short statements. `note` hears of each of them how much it has deleted. Any number of processes may do so at
 * once, beside the work of the service. Ends early when the process stops.
 */
export async function prune(ctx: Context, note: (what: Pruned, deleted: number) => void = () => {}): Promise<void> {
  for (const what of PRUNED) {
    let look: Look = { deleted: 0, next: null, ended: false };
    while (!look.ended && !ctx.worker.stopping.aborted) {
      look = await lookFor(ctx, what)(ctx, look.next);
      note(what, look.deleted);
    }
  }
}

/**
 * What a worker calls again and again: each call goes on where the last one has ended, for as long as there is plenty to
 * delete and for one look where there is not, so it costs what is old and not what exists. What cannot be pruned is
 * logged, and keeps nothing else from it.
 */
export function createPruner(ctx: Context): () => Promise<void> {
  const places = new Map<Pruned, string | null>();
  return async () => {
    for (const what of PRUNED) {
      try {
        let look: Look;
        do {
          if (ctx.worker.stopping.aborted) return;
          look = await lookFor(ctx, what)(ctx, places.get(what) ?? null);
          places.set(what, look.ended ? null : look.next);
        } while (look.deleted >= PLENTY && !look.ended);
      } catch (error) {
        ctx.log.error({ err: error }, `pruning ${what} failed`);
      }
    }
  };
}

/** Executions and the audit log are in the order of time; the others have an index on it, or are gone through by key. */
function lookFor(ctx: Context, what: Pruned): LookBehind {
  const now = ctx.now().getTime();
  const daysAgo = (days: number) => new Date(now - days * DAY_MS);
  const beyond = (days: number, look: (before: Date) => LookBehind) => (days === 0 ? keepAll : look(daysAgo(days)));
  const past = new Date(now - MARGIN_MS).toISOString();
  const old = daysAgo(KEPT_DAYS).toISOString();
  const { retention } = ctx.config;
  switch (what) {
    case 'executions':
      return beyond(retention.executionsDays, pruneExecutions);
    case 'occurrences':
      return beyond(retention.occurrencesDays, pruneOccurrences);
    case 'deliveries':
      return beyond(retention.deliveriesDays, pruneDeliveries);
    case 'audit entries':
      return beyond(retention.auditDays, (before) =>
        lookThrough({ name: 'audit_log', key: 'id', isOver: sql`at < ${before.toISOString()}`, inOrderOfTime: true }),
      );
    case 'files':
      return beyond(retention.filesDays, pruneUploads);
    case 'rate-limit windows':
      return lookByIndex('rate_windows', 'key', sql`ends_at < ${past}`);
    case 'sessions':
      return lookByIndex('sessions', 'id', sql`expires_at < ${past}`);
    case 'reset tokens':
      return lookThrough({ name: 'password_resets', key: 'token_hash', isOver: sql`created_at < ${old}` });
    case 'mails':
      return lookThrough({
        name: 'mails',
        key: 'id',
        isOver: sql`next_attempt_at is null and created_at < ${old}`,
      });
  }
}

const keepAll: LookBehind = async () => ({ deleted: 0, next: null, ended: true });

/** For a condition that an index answers. */
function lookByIndex(table: string, key: string, isOver: SQL): LookBehind {
  const [from, id] = [sql.identifier(table), sql.identifier(key)];
  return async ({ db }) => {
    const { length: deleted } = await queryRows(
      db,
      sql`
      delete from ${from} where ${id} in (
        select ${id} from ${from} where ${isOver} limit ${BATCH} for update skip locked)
      returning 1`,
    );
    return { deleted, next: null, ended: deleted < BATCH };
  };
}
