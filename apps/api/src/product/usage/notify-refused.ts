import { queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { formatInstant } from '../../lib/format-instant.ts';
import { nextDay, type QuotaAccount, type QuotaExceeded, toUtcDay, toUtcMonth } from '../../platform/limits/quotas.ts';
import { notifyUsers } from '../notifications/write.ts';
import { forecastRuns, type Shortage } from './forecast.ts';
import { listPlannedTasks } from './planned-tasks.ts';

/** A planned run or a retry that was refused. The counters of its account are locked. */
export interface RefusedRun {
  account: QuotaAccount;
  exceeded: QuotaExceeded;
}

/**
 * Notifies the owners of refused runs, once for each quota and period, and once for each end of a trial: the locked counter of
 * the period remembers it.
 */
export async function notifyRefusedRuns(tx: Context, refused: readonly RefusedRun[]): Promise<void> {
  if (refused.length === 0) return;
  const now = tx.now();
  const day = toUtcDay(now);
  const month = toUtcMonth(day);
  const dayEnd = nextDay(now).toISOString();
  const notices = new Map(
    refused.map((run) => [
      `${run.account.userId} ${toKey(run)}`,
      { ...run, userId: run.account.userId, key: toKey(run) },
    ]),
  );
  const rows = [...notices.values()].map(({ userId, key, exceeded }) => {
    return { userId, key, period: exceeded.resetAt === dayEnd ? day : month };
  });
  const fresh = await queryRows<{ userId: number; key: string; timezone: string | null }>(
    tx.db,
    sql`
    update usage_counters c set noticed = c.noticed || n.key
    from ${recordset('n', rows, { userId: 'int', key: 'text', period: 'text' })} join users u on u.id = n.user_id
    where c.user_id = n.user_id and c.period = n.period
      and not exists (select from usage_counters o where o.user_id = n.user_id and n.key = any(o.noticed))
    returning c.user_id, n.key, u.timezone`,
  );
  await notifyUsers(
    tx,
    await Promise.all(
      fresh.map(async ({ userId, key, timezone }) => {
        const { account, exceeded } = notices.get(`${userId} ${key}`) as RefusedRun;
        const { shortages } = forecastRuns(await listPlannedTasks(tx, { id: userId }), account, now);
        const shortage = shortages.find(({ resource, until }) => {
          return resource === exceeded.resource && (until?.toISOString() ?? null) === exceeded.resetAt;
        });
        return { userId, path: '/usage', ...describe(exceeded, shortage, timezone ?? 'UTC') };
      }),
    ),
  );
}

const toKey = ({ account, exceeded: { resource, resetAt } }: RefusedRun) =>
  `${resource} ${resetAt ?? account.trialEndsAt?.toISOString()}`;

function describe({ resource, limit, resetAt }: QuotaExceeded, shortage: Shortage | undefined, timezone: string) {
  const { runs = 0, tasks = 0, period } = shortage ?? {};
  const planned = `${runs} planned ${runs === 1 ? 'run' : 'runs'} of ${tasks} ${tasks === 1 ? 'task' : 'tasks'}`;
  if (resource === 'trial') {
    const message = `Your tasks do not run any more: ${planned} in the next 24 hours are refused.`;
    return { kind: 'trial.ended', title: 'The trial has ended', message };
  }
  const unit = resource === 'tokens' ? 'tokens' : 'runs';
  const until = resetAt === null ? '' : ` until ${formatInstant(new Date(resetAt), timezone)}`;
  return {
    kind: 'quota.used_up',
    title: `The ${unit} of ${period === 'month' ? 'this month' : 'today'} are used up`,
    message: `All ${limit} ${unit} are used, so ${planned} are refused${until}.`,
  };
}
