import { queryRows, recordset } from '@carillon/db';
import { describeMoment, getTexts, type Reader } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
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
  const fresh = await queryRows<{ userId: number; key: string } & Reader>(
    tx.db,
    sql`
    update usage_counters c set noticed = c.noticed || n.key
    from ${recordset('n', rows, { userId: 'int', key: 'text', period: 'text' })} join users u on u.id = n.user_id
    where c.user_id = n.user_id and c.period = n.period
      and not exists (select from usage_counters o where o.user_id = n.user_id and n.key = any(o.noticed))
    returning c.user_id, n.key, u.language, u.timezone`,
  );
  const planned = await listPlannedTasks(
    tx,
    fresh.map(({ userId }) => userId),
  );
  const tasks = Map.groupBy(planned, ({ userId }) => userId);
  await notifyUsers(
    tx,
    fresh.map(({ userId, key, ...owner }) => {
      const { account, exceeded } = notices.get(`${userId} ${key}`) as RefusedRun;
      const { shortages } = forecastRuns(tasks.get(userId) ?? [], account, now);
      const shortage = shortages.find(({ resource, until }) => {
        return resource === exceeded.resource && (until?.toISOString() ?? null) === exceeded.resetAt;
      });
      return { userId, path: '/usage', ...describe(exceeded, shortage, owner) };
    }),
  );
}

const toKey = ({ account, exceeded: { resource, resetAt } }: RefusedRun) =>
  `${resource} ${resetAt ?? account.trialEndsAt?.toISOString()}`;

function describe({ resource, limit, resetAt }: QuotaExceeded, shortage: Shortage | undefined, owner: Reader) {
  const { runs = 0, tasks = 0, period } = shortage ?? {};
  const { notices } = getTexts(owner.language);
  if (resource === 'trial') {
    return { kind: 'trial.ended', title: notices.trialEnded, message: notices.trialEndedText(runs, tasks) };
  }
  const unit = resource === 'tokens' ? 'tokens' : 'executions';
  const until = resetAt === null ? null : describeMoment(resetAt, owner);
  return {
    kind: 'quota.used_up',
    title: notices.quotaUsed(unit, period === 'month' ? 'month' : 'day'),
    message: notices.quotaUsedText(unit, limit ?? 0, runs, tasks, until),
  };
}
