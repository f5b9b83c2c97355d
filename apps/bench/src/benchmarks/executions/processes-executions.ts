import { insertTasks, insertUsers } from '../../../../../test/system/users.ts';
import { type Benchmark, type Comparison, measureInRounds } from '../../benchmark.ts';
import { prepareFreshInstallation } from '../../environment/fresh-installation.ts';
import { formatNumber } from '../../statistics.ts';
import { measureDueRate } from './due-rate.ts';

const CONCURRENCY = 200;
/** Below the quota of 500 executions a day over all rounds. */
const TASKS_EACH = 20;

export const processesExecutions: Benchmark = {
  about:
    'executions per second for 10,000 daily tasks due at the same instant, with one, two and four API processes on one database',
  async run(stack, environment) {
    const count = environment.quick ? 40 : 10_000;
    const { db, jwtSecret, measure } = await prepareFreshInstallation(stack, environment, {
      core: null,
      apiEnv: { EXECUTION_CONCURRENCY: String(CONCURRENCY) },
    });
    await insertUsers(db, { count: count / TASKS_EACH, jwtSecret });
    await insertTasks(db, TASKS_EACH);
    const runAll = () => measureDueRate(db, count);
    const { one, two, four } = await measureInRounds(
      environment.rounds,
      { one: () => measure(runAll, 1), two: () => measure(runAll, 2), four: () => measure(runAll, 4) },
      (rate) => `${formatNumber(rate)} executions/s`,
    );
    const compare = (what: string, values: number[]): Comparison => ({
      what,
      unit: 'executions/s',
      values,
      baseline: { name: 'Carillon with one API process', values: one },
      aim: { atLeast: 1 },
      note: `the API processes are not pinned to a core and share all cores with PostgreSQL, the scheduler and the AI server, so that they cannot grow beyond the cores that are free; each runs up to ${CONCURRENCY} executions at once`,
    });
    return [compare('executions with two API processes', two), compare('executions with four API processes', four)];
  },
};
