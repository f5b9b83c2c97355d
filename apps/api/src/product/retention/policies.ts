import { DAY_MS } from '@carillon/contract/primitives';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { type PruneBatch, pruneByIndex, pruneByKey } from './batch.ts';
import { pruneDeliveries } from './deliveries.ts';
import { endOpenDeliveries } from './open-deliveries.ts';
import { dropExpiredExecutions } from './partitions/drop-executions.ts';
import { dropExpiredMonth } from './partitions/drop-months.ts';
import { AUDIT_LOG, EVENTS, OCCURRENCES, USAGE_RECORDS } from './partitions/month-partitions.ts';
import { pruneRateHits } from './rate-hits.ts';
import { pruneUploads } from './uploads.ts';
import { pruneUsageCounters } from './usage.ts';

/** Clocks of processes differ: what has just expired for one may still be valid for another. */
const CLOCK_SKEW_MS = 60_000;
/** For reset tokens after their creation, for mail that was sent or given up, and for counts of rejected requests. */
const RETENTION_DAYS = 30;
/** For programs without a connection: as long as a copy of their document is good. */
const DOCUMENT_DAYS = 7;

export const PRUNED_KINDS = [
  'executions',
  'occurrences',
  'open deliveries',
  'deliveries',
  'events',
  'alerts',
  'notifications',
  'audit entries',
  'usage records',
  'usage counters',
  'files',
  'rate-limit windows',
  'rejected requests',
  'sessions',
  'reset tokens',
  'mails',
  'idempotency keys',
  'proposals',
  'sign-in tickets',
  'passkey challenges',
  'unconfirmed factors',
  'assistant tokens',
  'assistant programs',
] as const;
export type PrunedKind = (typeof PRUNED_KINDS)[number];

/** Prunes one batch of a kind, by the configured retention (`RETENTION_*`) or by the expiry of the rows themselves. */
export function toPruneBatch(ctx: Context, kind: PrunedKind): PruneBatch {
  const now = ctx.now().getTime();
  const daysAgo = (days: number) => new Date(now - days * DAY_MS);
  const olderThan = (days: number, prune: (before: Date) => PruneBatch) =>
    days === 0 ? keepForever : prune(daysAgo(days));
  const expired = new Date(now - CLOCK_SKEW_MS).toISOString();
  const old = daysAgo(RETENTION_DAYS).toISOString();
  const { retention } = ctx.config;
  switch (kind) {
    case 'executions':
      return olderThan(retention.executionsDays, dropExpiredExecutions);
    case 'occurrences':
      return olderThan(retention.occurrencesDays, (before) =>
        dropExpiredMonth(OCCURRENCES, before, isOccurrenceKept(before)),
      );
    case 'open deliveries':
      return endOpenDeliveries(daysAgo(retention.deliveriesDays));
    case 'deliveries':
      return olderThan(retention.deliveriesDays, pruneDeliveries);
    case 'events':
      return olderThan(retention.eventsDays, (before) => dropExpiredMonth(EVENTS, before));
    case 'alerts':
      return olderThan(retention.alertsDays, (before) => {
        const isExpired = sql`created_at < ${before.toISOString()}`;
        return pruneByKey({ table: 'alerts', primaryKey: 'id', isExpired, isChronological: true });
      });
    case 'notifications':
      return olderThan(retention.notificationsDays, (before) => {
        const isExpired = sql`created_at < ${before.toISOString()}`;
        return pruneByKey({ table: 'notifications', primaryKey: 'id', isExpired, isChronological: true });
      });
    case 'audit entries':
      return olderThan(retention.auditDays, (before) => dropExpiredMonth(AUDIT_LOG, before));
    case 'usage records':
      return olderThan(retention.usageDays, (before) => dropExpiredMonth(USAGE_RECORDS, before));
    case 'usage counters':
      return olderThan(retention.usageDays, () => pruneUsageCounters);
    case 'files':
      return olderThan(retention.filesDays, pruneUploads);
    case 'rate-limit windows':
      return pruneByIndex('rate_windows', 'key', sql`ends_at < ${expired}`);
    case 'rejected requests':
      return pruneRateHits(daysAgo(RETENTION_DAYS));
    case 'sessions':
      return pruneByIndex('sessions', 'id', sql`expires_at < ${expired}`);
    case 'reset tokens':
      return pruneByKey({
        table: 'password_resets',
        primaryKey: 'token_hash',
        isExpired: sql`created_at < ${old}`,
      });
    case 'mails':
      return pruneByKey({
        table: 'mails',
        primaryKey: 'id',
        isExpired: sql`next_attempt_at is null and created_at < ${old}`,
      });
    case 'idempotency keys':
      return pruneByIndex('idempotency_keys', 'id', sql`expires_at < ${expired}`);
    case 'proposals':
      return pruneByIndex('task_proposals', 'id', sql`expires_at < ${expired}`);
    case 'sign-in tickets':
      return pruneByIndex('sign_in_tickets', 'token_hash', sql`expires_at < ${expired}`);
    case 'passkey challenges':
      return pruneByIndex('used_challenges', 'challenge_hash', sql`expires_at < ${expired}`);
    case 'unconfirmed factors': {
      const isExpired = sql`confirmed_at is null and created_at < ${daysAgo(1).toISOString()}`;
      return pruneByKey({ table: 'factors', primaryKey: 'id', isExpired });
    }
    case 'assistant tokens':
      return pruneByIndex('oauth_tokens', 'token_hash', sql`expires_at < ${expired}`);
    case 'assistant programs': {
      const isExpired = sql`seen_at < ${daysAgo(DOCUMENT_DAYS).toISOString()} and blocked_at is null
        and not exists (select from api_keys k where k.client_id = oauth_clients.id)`;
      return pruneByKey({ table: 'oauth_clients', primaryKey: 'id', isExpired });
    }
  }
}

/** The occurrence of an active single-run task marks the run as done. A backfill records others later. */
const isOccurrenceKept = (before: Date) => sql`r.recorded_at >= ${before.toISOString()} or exists (
  select from tasks t where t.id = r.task_id and t.recurrence = 'once' and t.status = 'active')`;

const keepForever: PruneBatch = async () => ({ deleted: 0, next: null, isLast: true });
