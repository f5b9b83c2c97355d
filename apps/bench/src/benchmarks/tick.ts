import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Benchmark, type Comparison, type Environment, measureInRounds } from '../benchmark.ts';
import { fillExecutions, fillTasks } from '../environment/fill-tables.ts';
import { install } from '../environment/installation.ts';
import { formatNumber, median } from '../statistics.ts';

const DUE = 100;
const SMALLEST = 10_000;
const SIZES = [SMALLEST, 100_000, 1_000_000, 5_000_000];
const OLD_EXECUTIONS = 10_000_000;
const TICKS = 10;
const TIMEOUT_MS = 60_000;

export const tick: Benchmark = {
  about: `one call of the scheduler trigger with ${DUE} due tasks in tables of growing size`,
  async run(stack, environment) {
    const base = environment.quick ? 1000 : SMALLEST;
    const sizes = environment.quick ? [base] : SIZES.filter((size) => size <= Math.max(base, environment.largest));
    const old = environment.quick ? 1000 : Math.min(OLD_EXECUTIONS, environment.largest * 2);
    const contestants: Record<string, Measure> = {};
    for (const tasks of sizes) contestants[describeSize(tasks)] = await prepare(stack, environment, { tasks, old: 0 });
    const withOldExecutions = `${describeSize(base)} and ${old.toLocaleString('en-US')} old executions`;
    contestants[withOldExecutions] = await prepare(stack, environment, { tasks: base, old });
    const results = await measureInRounds(environment.rounds, contestants, (ms) => `${formatNumber(ms)} ms`);
    return [...sizes.slice(1).map(describeSize), withOldExecutions].map(
      (name): Comparison => ({
        what: `tick with ${DUE} due among ${name}`,
        unit: 'ms',
        values: results[name] ?? [],
        baseline: { name: `Carillon among ${describeSize(base)}`, values: results[describeSize(base)] ?? [] },
        aim: { atMost: 1.5 },
        note: `each round is the median of ${environment.quick ? 2 : TICKS} ticks`,
      }),
    );
  },
};

const describeSize = (tasks: number) => `${tasks.toLocaleString('en-US')} tasks`;

type Measure = () => Promise<number>;

/** Returns a function that measures the median duration of a tick. */
async function prepare(
  stack: AsyncDisposableStack,
  environment: Environment,
  size: { tasks: number; old: number },
): Promise<Measure> {
  const { db, apiUrl, databaseUrl, cronSecret } = await install(stack, environment, {
    scheduler: false,
    apiEnv: { DATABASE_POOL: '10' },
  });
  await fillTasks(databaseUrl, size.tasks);
  await fillExecutions(databaseUrl, size.old);
  await db.execute(sql`vacuum analyze`);
  let next = 0;
  return async () => {
    const times: number[] = [];
    for (let n = 0; n <= (environment.quick ? 2 : TICKS); n++) {
      next = await makeSomeDue(db, next);
      times.push(await callTrigger(apiUrl, cronSecret));
      await waitForCompletion(db);
    }
    // The first tick of a round meets an idle process.
    return median(times.slice(1));
  };
}

/** Makes tasks due that are spread over the table. Returns the start of the next call. */
async function makeSomeDue(db: Db, from: number): Promise<number> {
  const [row] = await queryRows<{ maxId: number }>(db, sql`select max(id)::int as "maxId" from tasks`);
  const step = Math.floor((row?.maxId ?? 0) / DUE);
  const first = from % step;
  await db.execute(sql`
    update tasks set next_execution_at = now() where id in (
      select ${first}::int + n * ${step}::int + 1 from generate_series(0, ${DUE - 1}::int) n)`);
  return first + 1;
}

async function callTrigger(apiUrl: string, cronSecret: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${apiUrl}/api/cron/scheduler`, {
    headers: { authorization: `Bearer ${cronSecret}`, prefer: 'respond-async' },
  });
  const { processed } = (await response.json()) as { processed: number };
  const ms = performance.now() - startedAt;
  if (processed !== DUE) throw new Error(`The tick enqueued ${processed} of ${DUE} tasks.`);
  return ms;
}

async function waitForCompletion(db: Db) {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const [row] = await queryRows<{ pending: boolean }>(
      db,
      sql`select exists (select from executions where status in ('pending', 'running')) as pending`,
    );
    if (!row?.pending) return delay(20);
    if (performance.now() > deadline) throw new Error('The executions of a tick were not completed in time.');
    await delay(20);
  }
}
