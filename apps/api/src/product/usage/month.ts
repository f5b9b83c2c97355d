import { queryRows, toInstant } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, accountDeleted } from '../../errors.ts';
import { getPlanLimits, getTrialEnd, type PlanRow, planColumnsSql } from '../../platform/limits/plan-limits.ts';
import { toUtcDay, toUtcMonth } from '../../platform/limits/quotas.ts';
import { forecastRuns } from './forecast.ts';
import { listPlannedTasks } from './planned-tasks.ts';
import { listUsageAlerts } from './read.ts';

/** Ten years. */
const MAX_MONTHS = 120;
const MAX_LISTED = 20;

interface Counters {
  executions: number;
  tokens: number;
  costUsd: number;
}

const NOTHING: Counters = { executions: 0, tokens: 0, costUsd: 0 };

interface MonthRow extends PlanRow {
  trialEndsAt: string | null;
  months: string[];
  month: (Counters & { completed: number; failed: number; savedRuns: number; savedUsd: number }) | null;
  today: Counters | null;
  days: (Counters & { day: string })[];
  storedBytes: number;
  keys: { id: string; name: string; requests: number }[];
  rejections: { endpoint: string; hits: number; lastHit: string }[];
}

/**
 * The usage of a UTC month, by default this one, with the present limits of the plan, and what the planned runs of this
 * month will use. Throws 404 for a month without usage. Four statements.
 */
export async function getUsageMonth(ctx: Context, caller: Caller, month?: string) {
  const today = toUtcDay(ctx.now());
  const thisMonth = toUtcMonth(today);
  const period = month ?? thisMonth;
  if (!/^20\d\d-(0[1-9]|1[0-2])$/.test(period)) throw noSuchMonth();
  const [row, calls, alerts, planned] = await Promise.all([
    readMonth(ctx, caller, period, today),
    readCalls(ctx, caller, period),
    listUsageAlerts(ctx, caller),
    period === thisMonth ? listPlannedTasks(ctx, [caller.id]) : [],
  ]);
  if (period !== thisMonth && !row.months.includes(period)) throw noSuchMonth();
  const limits = getPlanLimits(row);
  const { months, days, storedBytes, keys, rejections } = row;
  const trialEndsAt = getTrialEnd(row);
  const counters = { day: row.today ?? NOTHING, month: row.month ?? NOTHING };
  const { shortages, expected } = forecastRuns(planned, { limits, ...counters, trialEndsAt }, ctx.now());
  return {
    period,
    months: [thisMonth, ...months.filter((one) => one !== thisMonth)],
    executions: { used: row.month?.executions ?? 0, limit: limits.executionsPerMonth },
    tokens: { used: row.month?.tokens ?? 0, limit: limits.tokensPerMonth },
    daily: {
      executions: { used: row.today?.executions ?? 0, limit: limits.executionsPerDay },
      tokens: { used: row.today?.tokens ?? 0, limit: limits.tokensPerDay },
    },
    trialEndsAt,
    forecast: period === thisMonth ? { ...expected, shortages } : null,
    storage: { used: storedBytes, limit: limits.uploadBytes },
    completed: row.month?.completed ?? 0,
    failed: row.month?.failed ?? 0,
    costUsd: row.month?.costUsd ?? 0,
    saved: { runs: row.month?.savedRuns ?? 0, usd: row.month?.savedUsd ?? 0 },
    days,
    ...calls,
    keys,
    rejections: rejections.map((one) => ({ ...one, lastHit: toInstant(one.lastHit) })),
    alerts,
  };
}

const noSuchMonth = () => new AppError('not_found', 'There is no usage of this month');

async function readMonth({ db }: Context, { id }: Caller, period: string, today: string): Promise<MonthRow> {
  const counters = sql.raw(`'executions', c.executions, 'tokens', c.tokens, 'costUsd', c.cost_usd`);
  const [row] = await queryRows<MonthRow>(
    db,
    sql`
    select ${planColumnsSql}, u.trial_ends_at,
      array(select c.period from usage_counters c where c.user_id = u.id and length(c.period) = 7
        order by c.period desc limit ${MAX_MONTHS}) as months,
      (select json_build_object(${counters}, 'completed', c.completed, 'failed', c.failed, 'savedRuns', c.saved_runs, 'savedUsd', c.saved_usd) from usage_counters c
        where c.user_id = u.id and c.period = ${period}) as month,
      (select json_build_object(${counters}) from usage_counters c
        where c.user_id = u.id and c.period = ${today}) as today,
      (select coalesce(json_agg(json_build_object('day', c.period, ${counters}) order by c.period), '[]')
        from usage_counters c
        where c.user_id = u.id and c.period between ${`${period}-01`} and ${`${period}-31`}) as days,
      coalesce((select bytes from upload_totals t where t.user_id = u.id), 0)::float8 as stored_bytes,
      (select coalesce(json_agg(k), '[]') from (
        select k.id, k.name, c.requests from api_keys k join api_key_usage c on c.key_id = k.id and c.period = ${period}
        where k.user_id = u.id order by c.requests desc, k.created_at, k.id limit ${MAX_LISTED}) k) as keys,
      (select coalesce(json_agg(h), '[]') from (
        select endpoint, hits, last_hit as "lastHit" from rate_hits h where h.user_id = u.id and h.day = ${today}::date
        order by hits desc, endpoint limit ${MAX_LISTED}) h) as rejections
    from users u cross join settings s where u.id = ${id}`,
  );
  if (!row) throw accountDeleted();
  return row;
}

interface Calls {
  executions: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

interface CallsRow {
  models: (Calls & { model: string | null; provider: string | null })[];
  tasks: (Calls & { kind: 'task' | 'agent' | 'deleted'; taskId: number | null; taskName: string | null })[];
  taskCount: number;
  tools: { uses: number; costUsd: number };
}

/** By model and by task. The quota bounds the calls of a month; they are read once for both. */
async function readCalls({ db }: Context, { id }: Caller, period: string) {
  const sums = sql.raw(`sum(executions)::int as executions, sum(input_tokens)::float8 as "inputTokens",
    sum(output_tokens)::float8 as "outputTokens", sum(cost_usd) as "costUsd"`);
  const [row] = await queryRows<CallsRow>(
    db,
    sql`
    with calls as materialized (
      select r.model, r.provider, r.executions, r.input_tokens, r.output_tokens, r.cost_usd, r.tool_uses, r.tool_cost_usd, e.task_id,
        case when r.source = 'agent' then 'agent' when e.task_id is null then 'deleted' else 'task' end as kind
      from usage_records r left join executions e on e.id = r.execution_id
      where r.user_id = ${id} and r.day >= ${`${period}-01`}::date and r.day < ${`${period}-01`}::date + interval '1 month'
    ), by_model as (
      select model, provider, ${sums} from calls group by model, provider
      order by "costUsd" desc, executions desc, model, provider limit ${MAX_LISTED}
    ), by_task as (
      select kind, task_id as "taskId", ${sums} from calls group by kind, task_id
    ), top as (
      select b.kind, b."taskId", t.name as "taskName", b.executions, b."inputTokens", b."outputTokens", b."costUsd"
      from (select * from by_task order by "costUsd" desc, executions desc, "taskId" limit ${MAX_LISTED}) b
        left join tasks t on t.id = b."taskId"
    )
    select (select coalesce(json_agg(m), '[]') from by_model m) as models,
      (select coalesce(json_agg(t order by t."costUsd" desc, t.executions desc, t."taskId"), '[]') from top t) as tasks,
      (select count(*)::int from by_task) as task_count,
      (select json_build_object('uses', coalesce(sum(tool_uses), 0), 'costUsd', coalesce(sum(tool_cost_usd), 0)) from calls)
        as tools`,
  );
  const { models = [], tasks = [], taskCount = 0, tools = { uses: 0, costUsd: 0 } } = row ?? {};
  return { models, tasks, tasksLeftOut: taskCount - tasks.length, tools };
}
