import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Benchmark, type Environment, measureInRounds } from '../benchmark.ts';
import { connectDatabase, install } from '../environment/installation.ts';
import { resolveProgram, SERVER_CORE, startProcess } from '../environment/processes.ts';
import { type AiServer, startAiServer } from '../environment/servers/ai-server.ts';
import { insertTasks, insertUsers, setDue } from '../environment/users.ts';
import { formatNumber } from '../statistics.ts';
import { runAllDue, vacuumAndCheckpoint } from './due-tasks.ts';

const CONCURRENCY = 200;
/** Below the quota of 500 executions a day over all rounds. */
const TASKS_EACH = 20;
const TIMEOUT_MS = 180_000;

const BASELINES = {
  'batched-sql': 'hand-written batched SQL',
  'pg-boss': 'pg-boss',
  'graphile-worker': 'graphile-worker',
};
type Baseline = keyof typeof BASELINES;
const AIMS: Record<Baseline, number> = { 'batched-sql': 0.7, 'pg-boss': 1, 'graphile-worker': 1 };

export const executions: Benchmark = {
  about:
    'executions per second for 10,000 daily tasks due at the same instant, with immediate AI answers, occurrences, quotas and events, but no webhooks',
  async run(stack, environment) {
    const count = environment.quick ? 40 : 10_000;
    const ai = await startAiServer(stack, environment.server.folder);
    const { db, jwtSecret } = await install(stack, environment, {
      ai,
      apiEnv: { EXECUTION_CONCURRENCY: String(CONCURRENCY) },
    });
    await insertUsers(db, { count: count / TASKS_EACH, jwtSecret });
    await insertTasks(db, TASKS_EACH);
    const carillon = async () => {
      const since = new Date();
      const { lastCompletionMs } = await runAllDue(db, { count, timeoutMs: TIMEOUT_MS });
      await assertWritten(db, since, count);
      return (count / lastCompletionMs) * 1000;
    };
    const names = Object.keys(BASELINES) as Baseline[];
    const prepared = await Promise.all(names.map((name) => prepare(stack, environment, { name, ai, count })));
    const [batched, boss, graphile] = prepared as [MeasureRate, MeasureRate, MeasureRate];
    const results = await measureInRounds(
      environment.rounds,
      { carillon, 'batched-sql': batched, 'pg-boss': boss, 'graphile-worker': graphile },
      (rate) => `${formatNumber(rate)} executions/s`,
    );
    return names.map((name) => ({
      what: 'executions',
      unit: 'executions/s',
      values: results.carillon,
      baseline: { name: BASELINES[name], values: results[name] },
      aim: { atLeast: AIMS[name] },
      note: `Carillon's time starts at the due instant and includes enqueueing; the queues already hold their jobs, and their time starts with the first job. EXECUTION_CONCURRENCY is ${CONCURRENCY}, also for the baselines`,
    }));
  },
};

type MeasureRate = () => Promise<number>;

interface Contestant {
  name: Baseline;
  ai: AiServer;
  count: number;
}

/** Each baseline has its own database with the same users and tasks, and a new process in each round. */
async function prepare(
  stack: AsyncDisposableStack,
  { server }: Environment,
  { name, ai, count }: Contestant,
): Promise<MeasureRate> {
  const databaseUrl = await server.newDatabase();
  const db = connectDatabase(stack, databaseUrl);
  await insertUsers(db, { count: count / TASKS_EACH, jwtSecret: 'unused' });
  await insertTasks(db, TASKS_EACH);
  return async () => {
    if (name === 'batched-sql') await setDue(db, new Date());
    await vacuumAndCheckpoint(db);
    const since = new Date();
    const { stop } = await startProcess(stack, {
      name,
      file: resolveProgram(`baselines/queues/${name}-main.ts`),
      folder: server.folder,
      core: SERVER_CORE,
      env: { DATABASE_URL: databaseUrl, AI_URL: ai.url, CONCURRENCY: String(CONCURRENCY) },
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

/** All contestants must have written the same rows and counters. */
async function assertWritten(db: Db, since: Date, count: number): Promise<void> {
  const at = sql`${since.toISOString()}::timestamptz`;
  const [row] = await queryRows<Record<string, number>>(
    db,
    sql`
    select (select count(*) from executions where created_at >= ${at} and status = 'completed' and result <> '')::int as executions,
      (select count(*) from usage_records where created_at >= ${at} and input_tokens > 0)::int as "usage records",
      (select count(*) from occurrences where recorded_at >= ${at})::int as occurrences,
      (select count(*) from tasks where last_execution_at >= ${at} and last_duration_ms is not null)::int as tasks,
      (select sum(least(executions, completed) - tokens_reserved) - (select count(*) from executions) + ${count}::int
        from usage_counters where length(period) = 10)::int as "counted executions"`,
  );
  for (const [what, written] of Object.entries(row ?? {})) {
    if (written !== count) throw new Error(`There are ${written} ${what} of ${count}.`);
  }
}
