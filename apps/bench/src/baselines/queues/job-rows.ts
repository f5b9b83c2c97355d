import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { createProvider } from './provider.ts';

export interface Job {
  taskId: number;
  userId: number;
  prompt: string;
  plannedFor: string;
}

/** The jobs of the queues: one statement at the start, the AI call, one statement at the end, without quotas and events. */
export function createJobs(concurrency: number) {
  const { DATABASE_URL = '' } = process.env;
  const sql = postgres(DATABASE_URL, { max: 10 });
  const provider = createProvider(concurrency);

  async function start({ taskId, userId, plannedFor }: Job): Promise<number> {
    const now = new Date();
    const lease = new Date(now.getTime() + 30_000);
    const [row] = await sql<{ id: number }[]>`
      with ledger as (
        insert into occurrences (task_id, planned_for, fate, recorded_at)
        values (${taskId}, ${plannedFor}, 'ran', ${now}) on conflict do nothing
      )
      insert into executions (task_id, user_id, status, trigger, planned_for, run_at, queued_at, started_at, claim_token,
        lease_until, usage_day, tokens_reserved, created_at)
      values (${taskId}, ${userId}, 'running', 'schedule', ${plannedFor}, ${plannedFor}, ${now}, ${now},
        ${randomUUID()}, ${lease}, ${now.toISOString().slice(0, 10)}, 256, ${now})
      returning id`;
    return row?.id as number;
  }

  async function complete(id: number, job: Job, answer: Awaited<ReturnType<typeof provider.ask>>, ms: number) {
    const now = new Date();
    const day = now.toISOString().slice(0, 10);
    await sql`
      with ended as (
        update executions set status = 'completed', completed_at = ${now}, claim_token = null, lease_until = null,
          tokens_reserved = 0, result = ${answer.text}, model = ${answer.model}, input_tokens = ${answer.inputTokens},
          output_tokens = ${answer.outputTokens}, cost_usd = 0, processing_time_ms = ${Math.round(ms)}
        where id = ${id}
      ), recorded as (
        insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens,
          estimated, cost_usd, created_at)
        values (${job.userId}, ${id}, 'execution', ${day}, 1, ${answer.model}, ${answer.inputTokens},
          ${answer.outputTokens}, false, 0, ${now})
      ), counted as (
        insert into usage_counters (user_id, period, executions, tokens, completed)
        select ${job.userId}::int, p, 1, ${answer.inputTokens + answer.outputTokens}::int, 1
        from (values (${day}), (${day.slice(0, 7)})) d(p) order by p
        on conflict (user_id, period) do update set executions = usage_counters.executions + 1,
          tokens = usage_counters.tokens + excluded.tokens, completed = usage_counters.completed + 1
      )
      update tasks set last_execution_at = ${now}, execution_count = execution_count + 1,
        last_duration_ms = ${Math.round(ms)} where id = ${job.taskId}`;
  }

  return {
    /** All tasks as jobs that are due now. */
    list: async (): Promise<Job[]> => {
      const plannedFor = new Date().toISOString();
      const found = await sql<Omit<Job, 'plannedFor'>[]>`
        select id as "taskId", user_id as "userId", prompt from tasks order by id`;
      return found.map((job) => ({ ...job, plannedFor }));
    },
    async run(job: Job): Promise<void> {
      const id = await start(job);
      const startedAt = performance.now();
      const answer = await provider.ask(job.prompt);
      await complete(id, job, answer, performance.now() - startedAt);
    },
  };
}

/** The `count`th call of the returned function exits the process. */
export function createCountdown(count: number) {
  let remaining = count;
  return () => {
    remaining -= 1;
    if (remaining > 0) return;
    console.log('done');
    process.exit(0);
  };
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
