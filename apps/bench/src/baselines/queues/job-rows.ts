import { randomUUID } from 'node:crypto';
import { openConnections } from '../connections.ts';
import { createBatcher } from './batcher.ts';
import { COMPLETE_JOBS, START_JOBS } from './job-statements.ts';
import { createProvider } from './provider.ts';

const CONNECTIONS = 10;

export interface Job {
  taskId: number;
  userId: number;
  prompt: string;
  plannedFor: string;
}

interface Result {
  id: number;
  taskId: number;
  userId: number;
  text: string;
  model: string;
  input: number;
  output: number;
  ms: number;
}

const toDay = (instant: string) => instant.slice(0, 10);

/** The jobs of the queues with the rows that their user has to write, without quotas and events. */
export async function createJobs(concurrency: number) {
  const query = await openConnections(process.env.DATABASE_URL ?? '', CONNECTIONS);
  const provider = createProvider(concurrency);

  /** Returns the ids of the executions in the order of the jobs. */
  async function start(jobs: readonly Job[]): Promise<number[]> {
    const rows = JSON.stringify(jobs.map(({ taskId, userId, plannedFor }) => ({ taskId, userId, plannedFor })));
    const now = new Date().toISOString();
    const lease = new Date(Date.now() + 30_000).toISOString();
    const values = [rows, now, lease, randomUUID(), toDay(now)];
    const started = await query<{ id: number; taskId: number }>(START_JOBS, values);
    const ids = new Map(started.map(({ id, taskId }) => [taskId, id]));
    return jobs.map(({ taskId }) => ids.get(taskId) as number);
  }

  async function complete(results: readonly Result[]): Promise<readonly Result[]> {
    const now = new Date().toISOString();
    await query(COMPLETE_JOBS, [JSON.stringify(results), now, toDay(now)]);
    return results;
  }

  async function ask({ taskId, userId, prompt }: Job, id: number): Promise<Result> {
    const startedAt = performance.now();
    const { text, model, inputTokens: input, outputTokens: output } = await provider.ask(prompt);
    return { id, taskId, userId, text, model, input, output, ms: Math.round(performance.now() - startedAt) };
  }

  const startOne = createBatcher(concurrency, start);
  const completeOne = createBatcher(concurrency, complete);

  return {
    /** All tasks as jobs that are due now. */
    list: async (): Promise<Job[]> => {
      const plannedFor = new Date().toISOString();
      const tasks = await query<Omit<Job, 'plannedFor'>>(
        `select id as "taskId", user_id as "userId", prompt from tasks order by id`,
      );
      return tasks.map((task) => ({ ...task, plannedFor }));
    },
    /** Writes the rows of a job together with those of the jobs that run at the same time. */
    async run(job: Job): Promise<void> {
      await completeOne(await ask(job, await startOne(job)));
    },
    async runBatch(jobs: readonly Job[]): Promise<void> {
      const ids = await start(jobs);
      await complete(await Promise.all(jobs.map((job, n) => ask(job, ids[n] as number))));
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
