import { sql } from 'drizzle-orm';
import { type Benchmark, type Comparison, type Environment, measureInRounds } from '../../benchmark.ts';
import { fillExecutions, fillTasks } from '../../environment/fill-tables.ts';
import { install } from '../../environment/installation.ts';
import { formatNumber } from '../../statistics.ts';
import { DUE, prepareTicks } from './measure-tick.ts';

const SMALLEST = 10_000;
const SIZES = [SMALLEST, 100_000, 1_000_000, 5_000_000];
const OLD_EXECUTIONS = 10_000_000;
const TICKS = 10;

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
  return prepareTicks({ db, apiUrl, cronSecret }, environment.quick ? 2 : TICKS);
}
