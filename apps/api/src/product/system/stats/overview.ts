import { DAY_MS } from '@carillon/contract/primitives';
import { queryRows, toInstant } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { accountDeleted } from '../../../errors.ts';
import { getPlanLimits, getTrialEnd, type PlanRow, planColumnsSql } from '../../../platform/limits/plan-limits.ts';
import { nextMonth, toUtcDay, toUtcMonth } from '../../../platform/limits/quotas.ts';
import { isUnseen, isWatched } from '../../../platform/queries/runs.ts';
import { isAcknowledgedSql, isLateSql } from '../../notifications/alerts/acknowledge.ts';
import { forecastRuns } from '../../usage/forecast.ts';
import { listPlannedTasks } from '../../usage/planned-tasks.ts';
import { listCauses, type NeedsRow } from './causes.ts';
import { selectOutages } from './outages.ts';
import { type BudgetedTask, listOverBudget, selectBudgetedTasks } from './over-budget.ts';
import { selectTaskFailures } from './task-failures.ts';

const MAX_SILENT = 20;
/** Tasks that are silent are searched among the latest alerts, however many there are. */
const LATEST_ALERTS = 200;
const MAX_ADDRESSES = 6;
/** The tasks among which addresses are searched, however many there are. */
const NEWEST_TASKS = 1000;
const MAX_ANSWERS = 5;
const ANSWER_CHARACTERS = 300;
/** Answers are searched among the latest executions, however many there are. */
const LATEST_EXECUTIONS = 200;

interface Counters {
  executions: number;
  tokens: number;
  costUsd: number;
}

interface OverviewRow extends PlanRow, NeedsRow {
  tasks: number;
  trialEndsAt: string | null;
  budgeted: BudgetedTask[];
  answers: {
    taskId: number;
    taskName: string;
    executionId: number;
    at: string;
    text: string;
    latenessMs: number | null;
    isNew: boolean;
    /** Null for a task that does not ask what changes, and for its first answer. */
    isChanged: boolean | null;
  }[];
  outages: { from: string; until: string; missed: number; madeUp: number }[];
  periods: (Counters & { period: string })[];
}

/**
 * What needs the caller, what is planned, what was answered in the last 24 hours or was not seen yet, and this month's usage.
 * Two statements.
 */
export async function getOverview(ctx: Context, caller: Caller) {
  const now = ctx.now();
  const [row, planned] = await Promise.all([
    readOverview(ctx, caller, new Date(now.getTime() - DAY_MS)),
    listPlannedTasks(ctx, [caller.id]),
  ]);
  const today = toUtcDay(now);
  const month = toUtcMonth(today);
  const limits = getPlanLimits(row);
  const used = (period: string) => row.periods.find((one) => one.period === period) ?? NOTHING;
  const toQuota = (value: number, limit: number) => ({ used: value, limit });
  const overBudget = await listOverBudget(ctx, row.budgeted);
  const monthEnd = nextMonth(now).getTime();
  const budgetEnds = new Map(
    overBudget.map(({ taskId, cause }) => [taskId, cause === 'budget_too_small' ? Number.POSITIVE_INFINITY : monthEnd]),
  );
  const forecast = forecastRuns(
    planned.map((task) => ({ ...task, overBudgetUntil: budgetEnds.get(task.taskId) ?? null })),
    { limits, day: used(today), month: used(month), trialEndsAt: getTrialEnd(row) },
    now,
  );
  const { slots, next, shortages } = forecast;
  return {
    tasks: row.tasks,
    causes: listCauses(
      row,
      shortages.filter(({ from }) => from.getTime() < now.getTime() + DAY_MS),
      overBudget,
    ),
    outages: row.outages.map((outage) => ({ ...outage, from: toInstant(outage.from), until: toInstant(outage.until) })),
    answers: row.answers.map((answer) => ({ ...answer, at: toInstant(answer.at) })),
    usage: {
      executions: toQuota(used(month).executions, limits.executionsPerMonth),
      tokens: toQuota(used(month).tokens, limits.tokensPerMonth),
      daily: {
        executions: toQuota(used(today).executions, limits.executionsPerDay),
        tokens: toQuota(used(today).tokens, limits.tokensPerDay),
      },
      trialEndsAt: getTrialEnd(row),
      costUsd: used(month).costUsd,
      days: row.periods
        .filter(({ period }) => period !== month)
        .map(({ period, costUsd, executions }) => ({ day: period, costUsd, executions })),
    },
    upcoming: {
      runs: slots.reduce((sum, slot) => sum + slot.runs - slot.refused, 0),
      refused: slots.reduce((sum, slot) => sum + slot.refused, 0),
      slots: slots.filter(({ runs }) => runs > 0),
      next,
    },
  };
}

const NOTHING: Counters = { executions: 0, tokens: 0, costUsd: 0 };

async function readOverview({ db, now }: Context, { id }: Caller, since: Date): Promise<OverviewRow> {
  const month = toUtcMonth(toUtcDay(now()));
  const [row] = await queryRows<OverviewRow>(
    db,
    sql`
    select ${planColumnsSql}, u.trial_ends_at, u.task_count as tasks,
      (select coalesce(json_agg(a.email order by a.email), '[]') from (
        select a.email from notification_addresses a
        where a.user_id = u.id and a.confirmed_at is null and (a.email <> u.email or u.email_verified_at is null)
          and (a.email = any(u.notification_emails) or exists (
            select from (select notification_email from tasks t where t.user_id = u.id
              order by t.id desc limit ${NEWEST_TASKS}) t where t.notification_email = a.email))
        order by a.email limit ${MAX_ADDRESSES}) a) as unconfirmed_emails,
      ${selectTaskFailures(sql`u.id`)} as failing,
      (select coalesce(json_agg(s), '[]') from (
        select distinct on (a.task_id) t.id as "taskId", t.name as "taskName", a.at as "plannedFor"
        from (select * from alerts where user_id = u.id order by id desc limit ${LATEST_ALERTS}) a
        join tasks t on t.id = a.task_id
        where a.kind = 'task.overdue' and a.created_at >= t.alerting_since and ${isLateSql(sql`t`)}
          and not ${isAcknowledgedSql(sql`t`, sql`null::text`)}
        order by a.task_id, a.id desc limit ${MAX_SILENT}) s) as silent,
      ${selectBudgetedTasks(sql`u.id`)} as budgeted,
      (select coalesce(json_agg(json_build_object('id', w.id, 'url', w.url, 'kind', w.kind, 'name', coalesce(w.name, w.description))), '[]')
        from endpoints w where w.user_id = u.id and w.status = 'failed') as failed_endpoints,
      (select coalesce(json_agg(a), '[]') from (
        select e.task_id as "taskId", t.name as "taskName", e.id as "executionId", e.completed_at as at,
          left(e.result, ${ANSWER_CHARACTERS}) as text,
          (extract(epoch from e.started_at - e.planned_for) * 1000)::int as "latenessMs",
          ${isUnseen(sql`e`, sql`u.id`)} as "isNew", case when ${isWatched('t')} then e.changed end as "isChanged"
        from (
          select distinct on (task_id) *
          from (select * from executions where user_id = u.id order by id desc limit ${LATEST_EXECUTIONS}) latest
          where status = 'completed'
            and (completed_at > ${since.toISOString()}::timestamptz or ${isUnseen(sql`latest`, sql`u.id`)})
          order by task_id, completed_at desc
        ) e
        join tasks t on t.id = e.task_id order by e.completed_at desc limit ${MAX_ANSWERS}) a) as answers,
      ${selectOutages(sql`u.id`, since)} as outages,
      (select coalesce(json_agg(c order by c.period), '[]') from (
        select period, executions, tokens, cost_usd as "costUsd" from usage_counters
        where user_id = u.id and period between ${month} and ${`${month}-99`}) c) as periods
    from users u cross join settings s where u.id = ${id}`,
  );
  if (!row) throw accountDeleted();
  return row;
}
