import { executions, occurrences, queryRows, tasks, usageCounters } from '@carillon/db';
import { and, asc, eq, sql } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';

type NewTask = typeof tasks.$inferInsert;

/** As short as a prompt may be. */
export const PROMPT = 'Say something nice.';

/** Inserts one task per user, with the prompt `Say something nice. <number>`. Default: daily and due now. */
export async function insertTasks(
  ctx: Context,
  userIds: readonly number[],
  values: Partial<NewTask> = {},
): Promise<number[]> {
  const now = ctx.now();
  const from = { scheduledFor: now, nextExecutionAt: now, createdAt: now, updatedAt: now };
  const settings = { recurrence: 'daily', timezone: 'UTC', aiModel: 'test-model', maxTokens: 100, temperature: 70 };
  const made = await ctx.db
    .insert(tasks)
    .values(
      userIds.map(
        (userId, at) =>
          ({ name: `Task ${at}`, prompt: `${PROMPT} ${at}`, ...settings, ...from, ...values, userId }) as NewTask,
      ),
    )
    .returning({ id: tasks.id });
  return made.map(({ id }) => id);
}

export async function insertTask(ctx: Context, userId: number, values: Partial<NewTask> = {}): Promise<number> {
  const [id] = await insertTasks(ctx, [userId], { prompt: PROMPT, ...values });
  return id as number;
}

export async function insertUsers(ctx: Context, count: number, plan: 'trial' | 'pro' = 'pro'): Promise<number[]> {
  const made = await queryRows<{ id: number }>(
    ctx.db,
    sql`
    insert into users (identity_user_id, email, name, plan)
    select 'local:' || n, 'person-' || n || '@example.com', 'Person ' || n, ${plan} from generate_series(1, ${count}::int) n
    returning id`,
  );
  return made.map(({ id }) => id);
}

/** Inserts a queued and counted manual execution for each task. */
export async function insertQueuedRuns(ctx: Context, taskIds: readonly number[]): Promise<void> {
  const now = ctx.now().toISOString();
  await ctx.db.execute(sql`
    with queued as (
      insert into executions (task_id, user_id, status, trigger, run_at, queued_at, usage_day, created_at)
      select id, user_id, 'pending', 'manual', ${now}, ${now}, ${now.slice(0, 10)}, ${now}
      from tasks where id = any(${`{${taskIds.join(',')}}`}::int[]) order by id returning user_id
    )
    insert into usage_counters (user_id, period, executions)
    select user_id, period, count(*) from queued, (values (${now.slice(0, 10)}), (${now.slice(0, 7)})) p(period) group by 1, 2
    on conflict (user_id, period) do update set executions = usage_counters.executions + excluded.executions`);
}

export async function readTaskRow(ctx: Context, id: number) {
  const [task] = await ctx.db.select().from(tasks).where(eq(tasks.id, id));
  return task as typeof tasks.$inferSelect;
}

/** Oldest first. */
export const readRuns = (ctx: Context, taskId: number) =>
  ctx.db.select().from(executions).where(eq(executions.taskId, taskId)).orderBy(asc(executions.id));

/** Inserts completed executions on demand, without usage. */
export async function insertEndedRuns(
  ctx: Context,
  { taskId, userId, count }: { taskId: number; userId: number; count: number },
): Promise<void> {
  const at = ctx.now();
  const run = { taskId, userId, status: 'completed', trigger: 'manual', result: 'Done.', archived: true } as const;
  const times = { runAt: at, createdAt: at, startedAt: at, completedAt: at };
  await ctx.db.insert(executions).values(Array.from({ length: count }, () => ({ ...run, ...times })));
}

/** Replaces the outcome of an execution that has ended; it completes without a code. */
export async function setOutcome(ctx: Context, id: number, errorCode: (typeof executions.$inferSelect)['errorCode']) {
  const status = errorCode === null ? 'completed' : 'failed';
  await ctx.db.update(executions).set({ status, errorCode }).where(eq(executions.id, id));
}

type Execution = typeof executions.$inferSelect;

/** Replaces the output of an execution, and how it differs from the one before. */
export async function setComparison(
  ctx: Context,
  id: number,
  values: Partial<Pick<Execution, 'output' | 'changed' | 'changes'>>,
): Promise<void> {
  await ctx.db.update(executions).set(values).where(eq(executions.id, id));
}

/** Returns the only execution of a task, throws otherwise. */
export async function readRun(ctx: Context, taskId: number) {
  const [run, ...more] = await readRuns(ctx, taskId);
  if (!run || more.length > 0) throw new Error(`Task ${taskId} has ${more.length + (run ? 1 : 0)} executions.`);
  return run;
}

/** Returns `[planned instant, fate]` of the occurrences of a task, oldest first. */
export async function readLedger(ctx: Context, taskId: number): Promise<[string, string][]> {
  const found = await ctx.db
    .select()
    .from(occurrences)
    .where(eq(occurrences.taskId, taskId))
    .orderBy(asc(occurrences.plannedFor));
  return found.map(({ plannedFor, fate }) => [plannedFor.toISOString(), fate]);
}

/** Inserts usage of a day, with its counters. */
export async function insertUsage(
  ctx: Context,
  userId: number,
  { executions = 0, tokens = 0, toolUses = 0, toolCostUsd = 0, day = ctx.now().toISOString().slice(0, 10) },
): Promise<void> {
  await ctx.db.execute(sql`
    with recorded as (
      insert into usage_records (user_id, source, day, executions, input_tokens, output_tokens, estimated, cost_usd, tool_uses,
        tool_cost_usd, created_at)
      values (${userId}, 'execution', ${day}, ${executions}, ${tokens}, 0, false, 0, ${toolUses}, ${toolCostUsd}, ${ctx.now().toISOString()})
    )
    insert into usage_counters (user_id, period, executions, tokens)
    select ${userId}::int, period, ${executions}::int, ${tokens}::bigint from (values (${day}), (${day.slice(0, 7)})) p(period)
    on conflict (user_id, period) do update set executions = usage_counters.executions + excluded.executions,
      tokens = usage_counters.tokens + excluded.tokens`);
}

/** Reads the usage counter of a day or a month. */
export async function readUsage(ctx: Context, userId: number, period = ctx.now().toISOString().slice(0, 10)) {
  const [counter] = await ctx.db
    .select()
    .from(usageCounters)
    .where(and(eq(usageCounters.userId, userId), eq(usageCounters.period, period)));
  const { executions = 0, tokens = 0, tokensReserved = 0 } = counter ?? {};
  return { executions, tokens, tokensReserved };
}

/** Sets the counters of completed and failed executions from rows that a test has inserted. */
export async function countEndedRuns(ctx: Context): Promise<void> {
  await ctx.db.execute(sql`
    insert into usage_counters (user_id, period, completed, failed)
    select e.user_id, p.period, count(*) filter (where e.status = 'completed'), count(*) filter (where e.status = 'failed')
    from executions e
      cross join lateral (select coalesce(e.usage_day, (e.completed_at at time zone 'UTC')::date)::text as day) d
      cross join lateral (values (d.day), (left(d.day, 7))) p(period)
    where e.status in ('completed', 'failed') group by 1, 2
    on conflict (user_id, period) do update set completed = excluded.completed, failed = excluded.failed`);
}
