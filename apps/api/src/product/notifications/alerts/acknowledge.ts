import type { EventData } from '@carillon/contract/webhooks/events';
import { alerts, queryRows } from '@carillon/db';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { selectLatestRuns } from '../../../platform/queries/runs.ts';
import { inTransaction } from '../../../transaction.ts';
import { getAlert } from './read.ts';

/** The last failure of a task is searched among its latest runs, this many. */
const LATEST_RUNS = 200;

/** A recurring task that was switched off after failed runs. */
export const isStoppedSql = (t: SQL): SQL => sql`(${t}.status = 'failed' and ${t}.recurrence <> 'once')`;

export const isLateSql = (t: SQL): SQL => sql`(${t}.status = 'active' and ${t}.overdue_at is null
  and ${t}.alerting_since is not null and ${t}.consecutive_failures = 0)`;

/** The latest run of a task that has failed by itself. */
export const selectLastFailure = (taskId: SQL): SQL => sql`
  select * from (${selectLatestRuns(taskId, LATEST_RUNS)}) e where status = 'failed' and error_code <> 'CANCELLED'
  order by id desc limit 1`;

/** Why a task needs attention, such as `failing TIMEOUT`; null if it does not. */
const causeSql = (t: SQL, errorCode: SQL): SQL => sql`case
  when ${isStoppedSql(t)} then 'stopped ' || coalesce(${errorCode}, '')
  when ${t}.consecutive_failures > 0 then 'failing ' || coalesce(${errorCode}, '')
  when ${isLateSql(t)} then 'late' end`;

/** Whether the present cause was put away, and no run has succeeded since. */
export const isAcknowledgedSql = (t: SQL, errorCode: SQL): SQL => sql`(${t}.acknowledged_cause is not null
  and ${t}.acknowledged_cause = ${causeSql(t, errorCode)}
  and ${t}.acknowledged_at >= coalesce(${t}.last_success_at, '-infinity'))`;

/**
 * Whether a failing task `t` with the last failure `e` needs attention. A refused run of an active task is no failure of the
 * task.
 */
export const isFailingSql = sql`((t.status = 'failed' or e.error_code is distinct from 'QUOTA_EXCEEDED' or e.started_at is not null)
  and not ${isAcknowledgedSql(sql`t`, sql`e.error_code`)})`;

/** Throws 404. */
export function acknowledgeAlert(ctx: Context, caller: Caller, id: number) {
  return inTransaction(ctx, async (tx) => {
    const [alert] = await tx.db
      .update(alerts)
      .set({ acknowledgedAt: sql`coalesce(${alerts.acknowledgedAt}, ${tx.now().toISOString()})` })
      .where(and(eq(alerts.id, id), eq(alerts.userId, caller.id)))
      .returning({ taskId: alerts.taskId, kind: alerts.kind, data: alerts.data });
    if (!alert) throw new AppError('not_found', 'Alert not found');
    const cause = toCause(alert.kind, alert.data);
    if (cause !== null) await acknowledgeCause(tx, caller, [alert.taskId], cause);
    return getAlert(tx, caller, id);
  });
}

/**
 * Puts away a cause of tasks, such as `failing TIMEOUT`, whether or not an alert was sent. Returns of how many: others have
 * another cause by now, or do not exist.
 */
export const acknowledgeTasks = (ctx: Context, caller: Caller, taskIds: readonly number[], cause: string) =>
  inTransaction(ctx, (tx) => acknowledgeCause(tx, caller, taskIds, cause));

function toCause(kind: (typeof alerts.$inferSelect)['kind'], data: Record<string, unknown>): string | null {
  if (kind === 'task.overdue') return 'late';
  if (kind !== 'task.failing') return null;
  const { stopped, errorCode } = data as EventData<'task.failing'>;
  return `${stopped ? 'stopped' : 'failing'} ${errorCode}`;
}

async function acknowledgeCause(
  tx: Context,
  caller: Caller,
  taskIds: readonly number[],
  cause: string,
): Promise<number> {
  const acknowledged = await queryRows<{ id: number }>(
    tx.db,
    sql`
    with own as materialized (
      select id from tasks where user_id = ${caller.id} and id = any(${`{${taskIds.join(',')}}`}::int[])
      order by id for no key update
    )
    update tasks t set acknowledged_cause = c.cause, acknowledged_at = ${tx.now().toISOString()}
    from (
      select t.id, ${causeSql(sql`t`, sql`e.error_code`)} as cause
      from own join tasks t using (id) left join lateral (${selectLastFailure(sql`t.id`)}) e on true
    ) c
    where t.id = c.id and c.cause = ${cause} returning t.id`,
  );
  for (const { id: taskId } of acknowledged) {
    await recordAudit(tx, { kind: 'alert.acknowledged', ...describeActor(caller), details: { taskId, cause } });
  }
  return acknowledged.length;
}
