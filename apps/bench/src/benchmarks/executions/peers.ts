import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { resolveProgram, SERVER_CORE, startProcess } from '../../../../../test/system/processes.ts';
import type { AiServer } from '../../../../../test/system/servers/ai-server.ts';
import { insertTasks, insertUsers, setDue } from '../../../../../test/system/users.ts';
import type { Environment } from '../../benchmark.ts';
import { connectDatabase } from '../../environment/installation.ts';
import { vacuumAndCheckpoint } from '../due-tasks.ts';
import { assertWritten } from './written-rows.ts';

const TIMEOUT_MS = 180_000;

interface Baseline {
  name: string;
  note: string;
}

const TOGETHER =
  'the concurrent jobs write their rows together, in one statement per turn of the event loop at the start and one at the end, which is several times faster than two statements per job';

/** The rows of each say how it is set up. */
export const BASELINES = {
  'batched-sql': {
    name: 'hand-written batched SQL',
    note: 'hand-written batched SQL enqueues 500 and starts and completes 100 executions per statement, two batches at a time, with the rows, counters and reserved tokens that Carillon writes, but without limits, events, retries and recovery',
  },
  'like-for-like-sql': {
    name: 'batched SQL that does what Carillon does',
    note: 'batched SQL that does what Carillon does also keeps five running executions a user and one a task, checks quotas and budgets, locks the tasks, fences by claim token, and writes the events with the positions of their users and the deliveries to webhooks; it has one process, no retries, alerts and recovery',
  },
  'pg-boss': {
    name: 'pg-boss, rows per batch',
    note: 'pg-boss fetches batches of 50 with `localConcurrency` 4 and `burstWhenBatchFull`; each batch writes its rows in one statement at the start and one at the end',
  },
  'graphile-worker': {
    name: 'graphile-worker, rows of concurrent jobs together',
    note: `graphile-worker runs with \`localQueue\` and batched completion as its documentation recommends for throughput; ${TOGETHER}`,
  },
  bullmq: {
    name: 'BullMQ, rows of concurrent jobs together',
    note: 'BullMQ has Redis with an append-only file that is synced every second, so that a crash can lose jobs; its rows in PostgreSQL are written as those of graphile-worker',
  },
} as const satisfies Record<string, Baseline>;

export type BaselineName = keyof typeof BASELINES;
/** Packages that one would use instead of Carillon; batched SQL is the limit. */
export const PEERS = ['pg-boss', 'graphile-worker', 'bullmq'] as const satisfies BaselineName[];

export interface Load {
  ai: AiServer;
  /** Null without an installed Redis. */
  redisPort: number | null;
  users: number;
  tasksEach: number;
  concurrency: number;
}

/** Each baseline has a database with the same users and tasks, and a new process in each round. Returns executions/s. */
export async function prepareBaseline(
  stack: AsyncDisposableStack,
  { server }: Environment,
  name: BaselineName,
  { ai, redisPort, users, tasksEach, concurrency }: Load,
): Promise<() => Promise<number>> {
  const databaseUrl = await server.newDatabase();
  const db = connectDatabase(stack, databaseUrl);
  const count = users * tasksEach;
  await insertUsers(db, { count: users, jwtSecret: 'unused' });
  await insertTasks(db, tasksEach);
  return async () => {
    await setDue(db, new Date());
    await vacuumAndCheckpoint(db);
    const since = new Date();
    const { stop } = await startProcess(stack, {
      name,
      file: resolveProgram(`bench/src/baselines/queues/${name}-main.ts`),
      folder: server.folder,
      core: SERVER_CORE,
      env: {
        DATABASE_URL: databaseUrl,
        AI_URL: ai.url,
        CONCURRENCY: String(concurrency),
        ...(redisPort !== null && { REDIS_PORT: String(redisPort) }),
      },
      ready: /^(done)$/m,
      timeoutMs: TIMEOUT_MS,
    });
    await stop();
    await assertWritten(db, since, count);
    const [row] = await queryRows<{ ms: number }>(
      db,
      sql`
      select (extract(epoch from max(completed_at) - min(started_at)) * 1000)::float8 as ms
      from executions where created_at >= ${since.toISOString()}::timestamptz`,
    );
    return (count / (row?.ms ?? Number.NaN)) * 1000;
  };
}
