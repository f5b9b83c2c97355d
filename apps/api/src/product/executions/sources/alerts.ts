import { type AlertRules, recordset, type TaskSource } from '@carillon/db';
import type { Reader } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { getEffectiveRules } from '../../notifications/alerts/overdue.ts';
import { type NewAlert, recordAlerts } from '../../notifications/alerts/record.ts';
import type { SourceLook } from './look.ts';

/** The number of failures of one source in a row that causes an alert. */
const FAILURES_IN_ROW = 3;

/** A locked task whose sources were looked at. */
export interface LookedTaskRow {
  taskId: number;
  userId: number;
  taskName: string;
  owner: Reader;
  sources: TaskSource[];
  notificationEmail: string | null;
  hasWebhook: boolean;
  alerts: AlertRules | null;
  alertingSince: string | null;
  isFailingAlerted: boolean;
  /** Whether failed runs are known since the last success. */
  hasFailures: boolean;
}

/** Of the alias `t` of `tasks`. */
export const selectLookedTask = sql`t.id as task_id, t.user_id, t.name as task_name, t.sources, t.notification_email,
  t.webhook_url is not null or t.channels <> '{}' as has_webhook, t.alerts, t.alerting_since, t.is_failing_alerted,
  t.consecutive_failures + t.waiting_failures > 0 as has_failures,
  (select json_build_object('language', u.language, 'timezone', u.timezone) from users u where u.id = t.user_id) as owner`;

interface LookedRun {
  task: LookedTaskRow;
  looks: readonly SourceLook[];
  /** The planned instant, or when the run was asked for. */
  at: Date;
  /** Null if no run followed the look. */
  executionId: number | null;
}

/**
 * Alerts once when all sources of a task begin to fail, and when one has failed three times in a row; also when they can be
 * read again. The caller has locked the tasks.
 */
export async function alertOfSources(tx: Context, looked: readonly LookedRun[]): Promise<void> {
  const found = looked.filter(({ looks }) => looks.length > 0).map((one) => ({ ...one, ...readRow(one.looks) }));
  const failing = found.filter(
    ({ task, begins, third }) => (begins || third) && getEffectiveRules(task).failuresInRow !== undefined,
  );
  const recovered = found.filter(
    ({ ends, task }) => ends && task.isFailingAlerted && task.alertingSince !== null && !task.hasFailures,
  );
  if (failing.length + recovered.length === 0) return;
  await recordAlerts(tx, [
    ...failing.map(buildFailing),
    ...recovered.flatMap((one) =>
      getEffectiveRules(one.task).failuresInRow === undefined ? [] : [buildRecovered(one)],
    ),
  ]);
  const changes = [
    ...failing.flatMap(({ task, begins }) => (begins ? [{ id: task.taskId, isFailing: true }] : [])),
    ...recovered.map(({ task }) => ({ id: task.taskId, isFailing: false })),
  ];
  if (changes.length === 0) return;
  const now = sql`${tx.now().toISOString()}::timestamptz`;
  await tx.db.execute(sql`
    update tasks t set is_failing_alerted = c.is_failing,
      not_done_in_row = case when c.is_failing then t.not_done_in_row else 0 end,
      alerting_since = case when c.is_failing then coalesce(t.alerting_since, ${now}) end
    from ${recordset('c', changes, { id: 'int', isFailing: 'boolean' })} where t.id = c.id`);
}

/** What a look changes of the rows of failures. */
function readRow(looks: readonly SourceLook[]) {
  const failures = looks.map(({ status, state }) => ({ isFailed: status === 'failed', row: state.failuresInRow }));
  const areAllFailed = failures.every(({ isFailed }) => isFailed);
  return {
    begins: areAllFailed && failures.some(({ row }) => row === 1),
    third: !areAllFailed && failures.some(({ isFailed, row }) => isFailed && row === FAILURES_IN_ROW),
    ends: !areAllFailed && looks.every(({ wasFailed }) => wasFailed),
  };
}

type Alerted = LookedRun & { begins: boolean };

const describe = ({ task, at, executionId }: LookedRun) => ({
  userId: task.userId,
  owner: task.owner,
  at,
  executionId,
  notificationEmail: task.notificationEmail,
  viaWebhook: false,
});

const toData = ({ task, executionId }: LookedRun) => ({
  task: { id: task.taskId, name: task.taskName },
  execution: executionId === null ? null : { id: executionId, status: 'running' as const },
});

function buildFailing(one: Alerted): NewAlert {
  const failed = one.looks.filter(
    ({ status, state }) => status === 'failed' && (one.begins || state.failuresInRow === FAILURES_IN_ROW),
  );
  const failuresInRow = Math.max(...failed.map(({ state }) => state.failuresInRow));
  const data = {
    ...toData(one),
    failuresInRow,
    error: failed[0]?.message ?? '',
    errorCode: null,
    stopped: false,
    sources: failed.map(({ source }) => source.name),
  };
  return { ...describe(one), kind: 'task.failing', data };
}

function buildRecovered(one: LookedRun): NewAlert {
  const data = { ...toData(one), since: new Date(one.task.alertingSince as string) };
  return { ...describe(one), kind: 'task.recovered', data };
}
