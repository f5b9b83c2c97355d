import { randomUUID } from 'node:crypto';
import { openConnections } from '../connections.ts';
import { createProvider } from './provider.ts';

/** Enqueues due tasks with their occurrences and usage, user by user to write fewer counters: $1 now, $2 limit, $3 day. */
const ENQUEUE = `
  with due as (
    select id, user_id, next_execution_at as at from tasks where next_execution_at <= $1::timestamptz
    order by user_id limit $2::int for no key update skip locked
  ), moved as (
    update tasks t set next_execution_at = due.at + interval '1 day' from due where t.id = due.id
  ), ledger as (
    insert into occurrences (task_id, planned_for, fate, recorded_at)
    select id, at, 'ran', $1::timestamptz from due on conflict do nothing
  ), counted as (
    insert into usage_counters (user_id, period, executions)
    select user_id, p, count(*) from due, (values ($3::text), (left($3::text, 7))) d(p) group by 1, 2 order by 1, 2
    on conflict (user_id, period) do update set executions = usage_counters.executions + excluded.executions
  )
  insert into executions (task_id, user_id, status, trigger, planned_for, run_at, queued_at, usage_day, created_at)
  select id, user_id, 'pending', 'schedule', at, at, $1::timestamptz, $3::date, $1::timestamptz from due
  returning id`;

export interface BatchedStatements {
  start: string;
  complete: string;
}

/** At a time: while one waits for the database, the others ask the AI. More and smaller ones cost the database more. */
const BATCHES = 2;
const ENQUEUE_SIZE = 500;

interface Started {
  id: number;
  prompt: string;
}

/** Runs all that is due with these statements, then ends the process. */
export async function runBatched({ start, complete }: BatchedStatements): Promise<never> {
  const concurrency = Number(process.env.CONCURRENCY);
  const batchSize = Math.ceil(concurrency / BATCHES);
  const query = await openConnections(process.env.DATABASE_URL ?? '', BATCHES + 1);
  const provider = createProvider(concurrency);
  let isEnqueueing = true;
  let wake = Promise.withResolvers<void>();

  async function enqueueAll() {
    for (;;) {
      const now = new Date();
      const enqueued = await query(ENQUEUE, [now.toISOString(), ENQUEUE_SIZE, now.toISOString().slice(0, 10)]);
      if (enqueued.length === 0) isEnqueueing = false;
      wake.resolve();
      wake = Promise.withResolvers();
      if (!isEnqueueing) return;
    }
  }

  async function runBatches() {
    for (;;) {
      const nextEnqueued = wake.promise;
      const isLast = !isEnqueueing;
      const now = new Date();
      const lease = new Date(now.getTime() + 30_000);
      const token = randomUUID();
      const started = await query<Started>(start, [now.toISOString(), lease.toISOString(), batchSize, token]);
      if (started.length > 0) {
        const results = await Promise.all(started.map((one) => ask(one, token)));
        await query(complete, [JSON.stringify(results), new Date().toISOString()]);
      } else if (isLast) return;
      else await nextEnqueued;
    }
  }

  async function ask({ id, prompt }: Started, token: string) {
    const startedAt = performance.now();
    const { text, model, inputTokens: input, outputTokens: output } = await provider.ask(prompt);
    return { id, token, text, model, input, output, ms: Math.round(performance.now() - startedAt) };
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
  await Promise.all([enqueueAll(), ...Array.from({ length: BATCHES }, runBatches)]);
  console.log('done');
  process.exit(0);
}
