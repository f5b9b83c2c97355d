import type { ErrorCode } from '@carillon/contract/executions';
import { DAY_MS } from '@carillon/contract/primitives';
import { type ChannelKind, queryRows, tasks, toInstant } from '@carillon/db';
import { and, asc, eq, lt, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { accountDeleted } from '../../../errors.ts';
import { getPlanLimits, type PlanRow, planColumnsSql } from '../../../platform/limits/plan-limits.ts';
import { toUtcDay, toUtcMonth } from '../../../platform/limits/quotas.ts';
import { selectLatestRuns } from '../../../platform/queries/runs.ts';
import { countRunsLeft, findRun } from '../../schedule/next-run.ts';
import { type BudgetedTask, listOverBudget, selectBudgetedTasks } from './over-budget.ts';

const MAX_FAILING = 6;
const MAX_SILENT = 6;
/** Tasks that are silent are searched among the latest alerts, however many there are. */
const LATEST_ALERTS = 200;
const MAX_ADDRESSES = 6;
/** The tasks among which addresses are searched, however many there are. */
const NEWEST_TASKS = 1000;
const MAX_ANSWERS = 5;
const ANSWER_CHARACTERS = 300;
/** Answers and failures are searched among the latest executions, however many there are. */
const LATEST_EXECUTIONS = 200;
/** As many as the largest plan allows a day. */
const MAX_RUNS = 500;

interface Counters {
  executions: number;
  tokens: number;
  costUsd: number;
}

interface OverviewRow extends PlanRow {
  tasks: number;
  unconfirmedEmails: string[];
  failing: {
    taskId: number;
    taskName: string;
    failures: number;
    executionId: number | null;
    at: string | null;
    error: string | null;
    errorCode: ErrorCode | null;
  }[];
  silent: { taskId: number; taskName: string; plannedFor: string }[];
  budgeted: BudgetedTask[];
  failedWebhooks: { id: string; url: string; kind: 'webhook' | ChannelKind; name: string | null }[];
  answers: {
    taskId: number;
    taskName: string;
    executionId: number;
    at: string;
    text: string;
    latenessMs: number | null;
  }[];
  periods: (Counters & { period: string })[];
}

/** What needs the caller, what is planned, what was answered since `since`, and this month's usage. Two statements. */
export async function getOverview(ctx: Context, caller: Caller, { since }: { since?: string }) {
  const [row, upcoming] = await Promise.all([
    readOverview(ctx, caller, new Date(since ?? ctx.now().getTime() - DAY_MS)),
    listUpcomingRuns(ctx, caller),
  ]);
  const day = toUtcDay(ctx.now());
  const month = toUtcMonth(day);
  const limits = getPlanLimits(row);
  const used = (period: string) => row.periods.find((one) => one.period === period);
  const toQuota = (value = 0, limit: number) => ({ used: value, limit });
  return {
    tasks: row.tasks,
    unconfirmedEmails: row.unconfirmedEmails,
    failing: row.failing.map((failing) => ({ ...failing, at: failing.at && toInstant(failing.at) })),
    silent: row.silent.map((silent) => ({ ...silent, plannedFor: toInstant(silent.plannedFor) })),
    overBudget: await listOverBudget(ctx, row.budgeted),
    failedWebhooks: row.failedWebhooks,
    answers: row.answers.map((answer) => ({ ...answer, at: toInstant(answer.at) })),
    usage: {
      executions: toQuota(used(month)?.executions, limits.executionsPerMonth),
      tokens: toQuota(used(month)?.tokens, limits.tokensPerMonth),
      daily: {
        executions: toQuota(used(day)?.executions, limits.executionsPerDay),
        tokens: toQuota(used(day)?.tokens, limits.tokensPerDay),
      },
      costUsd: used(month)?.costUsd ?? 0,
      days: row.periods
        .filter(({ period }) => period !== month)
        .map(({ period, costUsd, executions }) => ({ day: period, costUsd, executions })),
    },
    upcoming,
  };
}

async function readOverview({ db, now }: Context, { id }: Caller, since: Date): Promise<OverviewRow> {
  const month = toUtcMonth(toUtcDay(now()));
  const [row] = await queryRows<OverviewRow>(
    db,
    sql`
    select ${planColumnsSql}, u.task_count as tasks,
      (select coalesce(json_agg(a.email order by a.email), '[]') from (
        select a.email from notification_addresses a
        where a.user_id = u.id and a.confirmed_at is null and (a.email <> u.email or u.email_verified_at is null)
          and (a.email = any(u.notification_emails) or exists (
            select from (select notification_email from tasks t where t.user_id = u.id
              order by t.id desc limit ${NEWEST_TASKS}) t where t.notification_email = a.email))
        order by a.email limit ${MAX_ADDRESSES}) a) as unconfirmed_emails,
      (select coalesce(json_agg(f), '[]') from (
        select t.id as "taskId", t.name as "taskName", t.consecutive_failures as failures, e.id as "executionId",
          e.completed_at as at, e.error, e.error_code as "errorCode"
        from tasks t left join lateral (
          select * from (${selectLatestRuns(sql`t.id`, LATEST_EXECUTIONS)}) e where status = 'failed'
          order by id desc limit 1) e on true
        where t.user_id = u.id and t.consecutive_failures > 0 order by t.id desc limit ${MAX_FAILING}) f) as failing,
      (select coalesce(json_agg(s), '[]') from (
        select distinct on (a.task_id) t.id as "taskId", t.name as "taskName", a.at as "plannedFor"
        from (select * from alerts where user_id = u.id order by id desc limit ${LATEST_ALERTS}) a
        join tasks t on t.id = a.task_id
        where a.kind = 'task.overdue' and a.created_at >= t.alerting_since and t.status = 'active'
          and t.overdue_at is null and t.consecutive_failures = 0
        order by a.task_id, a.id desc limit ${MAX_SILENT}) s) as silent,
      ${selectBudgetedTasks(sql`u.id`)} as budgeted,
      (select coalesce(json_agg(json_build_object('id', w.id, 'url', w.url, 'kind', w.kind, 'name', w.name)), '[]')
        from endpoints w where w.user_id = u.id and w.status = 'failed') as failed_webhooks,
      (select coalesce(json_agg(a), '[]') from (
        select e.task_id as "taskId", t.name as "taskName", e.id as "executionId", e.completed_at as at,
          left(e.result, ${ANSWER_CHARACTERS}) as text,
          (extract(epoch from e.started_at - e.planned_for) * 1000)::int as "latenessMs"
        from (
          select distinct on (task_id) *
          from (select * from executions where user_id = u.id order by id desc limit ${LATEST_EXECUTIONS}) latest
          where status = 'completed' and completed_at > ${since.toISOString()}::timestamptz
          order by task_id, completed_at desc
        ) e
        join tasks t on t.id = e.task_id order by e.completed_at desc limit ${MAX_ANSWERS}) a) as answers,
      (select coalesce(json_agg(c order by c.period), '[]') from (
        select period, executions, tokens, cost_usd as "costUsd" from usage_counters
        where user_id = u.id and period between ${month} and ${`${month}-99`}) c) as periods
    from users u cross join settings s where u.id = ${id}`,
  );
  if (!row) throw accountDeleted();
  return row;
}

/** The plan limits how many tasks are active. */
async function listUpcomingRuns({ db, now }: Context, caller: Caller) {
  const from = now().getTime();
  const until = from + DAY_MS;
  const due = await db
    .select({
      taskId: tasks.id,
      taskName: tasks.name,
      next: tasks.nextExecutionAt,
      scheduledFor: tasks.scheduledFor,
      recurrence: tasks.recurrence,
      recurrencePattern: tasks.recurrencePattern,
      timezone: tasks.timezone,
      endsAt: tasks.endsAt,
      maxRuns: tasks.maxRuns,
      plannedRuns: tasks.plannedRuns,
      pausedUntil: tasks.pausedUntil,
    })
    .from(tasks)
    .where(and(eq(tasks.userId, caller.id), eq(tasks.status, 'active'), lt(tasks.nextExecutionAt, new Date(until))))
    .orderBy(asc(tasks.nextExecutionAt));
  const ahead = due.map(({ taskId, taskName, next, ...plan }) => ({
    taskId,
    taskName,
    plan,
    runsLeft: countRunsLeft(plan),
    at: next?.getTime() ?? until,
  }));
  const runs: { taskId: number; taskName: string; at: Date }[] = [];
  for (;;) {
    const [first, ...others] = ahead;
    const earliest = first && others.reduce((one, task) => (task.at < one.at ? task : one), first);
    if (!earliest || earliest.at >= until) return { runs, isComplete: true };
    if (runs.length === MAX_RUNS) return { runs, isComplete: false };
    const { taskId, taskName, plan, at } = earliest;
    runs.push({ taskId, taskName, at: new Date(at) });
    earliest.runsLeft -= 1;
    earliest.at = (earliest.runsLeft > 0 && findRun(plan, Math.max(at, from))?.at) || until;
  }
}
