import { startAiServer } from '../../../../../../test/system/servers/ai-server.ts';
import { insertTasks, insertUsers } from '../../../../../../test/system/users.ts';
import { type Benchmark, type Comparison, type Environment, measureInRounds } from '../../../benchmark.ts';
import { type FreshInstallation, prepareFreshInstallation } from '../../../environment/fresh-installation.ts';
import { formatNumber, highest } from '../../../statistics.ts';
import { runAllDue } from '../../due-tasks.ts';
import { assertWritten } from '../written-rows.ts';
import { type IdleCost, measureIdle } from './idle.ts';
import { readMostRunning } from './most-running.ts';
import { measurePaced, PER_SECOND } from './paced.ts';
import { meanWaiting, type Sample, startSampling } from './sampler.ts';

const POOL = 3;
/** Those of the pool, and one that listens. */
const CONNECTIONS_EACH = POOL + 1;
/** Sixteen processes have more slots than may run in all. */
const CONCURRENCY = 100;
/** Below the quota of 500 executions a day over all rounds. */
const TASKS_EACH = 20;
const TIMEOUT_MS = 180_000;
const SLOW_MS = { quick: [20, 60], full: [500, 1500] } as const;
const MAX_WAITING_PERCENT = 10;
const LIMITS = { total: 1000, ofUser: 5 };

export const sixteen: Benchmark = {
  about: `10,000 tasks due at the same instant, with one, four and sixteen API processes of ${POOL} connections each: executions per second, waiting for locks, connections, and the limits of running executions`,
  async run(stack, environment) {
    const { quick, rounds } = environment;
    const count = quick ? 40 : 10_000;
    const [few, many] = quick ? [2, 3] : [4, 16];
    const immediate = await prepare(stack, environment, { count });
    const runs = (processes: number) => () => measureRun(immediate, { processes, count });
    const contestants = { one: runs(1), few: runs(few), many: runs(many) };
    const results = await measureInRounds(rounds, contestants, describe);
    const slow = await measureSlow(stack, environment, { processes: many, count });
    console.log(
      `  slow answers: ${describe(slow)}; paced: waits for locks ${formatNumber(slow.pacedWaiting)} %; idle: ${formatNumber(slow.idle.transactionsPerSecond)} transactions/s`,
    );
    return [
      ...compare(`${few} processes`, results.few, results.one),
      ...compare(`${many} processes`, results.many, results.one),
      compareWaiting(`${many} processes, slow answers`, [slow]),
      compareWaiting(`${many} processes, slow answers, ${PER_SECOND} runs/s due evenly`, [
        { waiting: slow.pacedWaiting },
      ]),
      ...compareLimits([...results.one, ...results.few, ...results.many, slow]),
      {
        what: `connections of ${many} processes, most at once`,
        unit: 'connections',
        values: results.many.map(({ connections }) => connections),
        aim: { atMost: many * CONNECTIONS_EACH },
        note: `the most connections allowed are ${CONNECTIONS_EACH} for each process, from its start on`,
      },
      ...compareIdle(many, slow.idle),
    ];
  },
};

interface Load {
  processes: number;
  count: number;
}

interface RunFigures {
  rate: number;
  /** Of the time of a process, in percent. */
  waiting: number;
  connections: number;
  running: number;
  runningOfUser: number;
}

async function prepare(
  stack: AsyncDisposableStack,
  environment: Environment,
  { count, delayMs }: { count: number; delayMs?: readonly [number, number] },
): Promise<FreshInstallation> {
  const ai = await startAiServer(stack, environment.server.folder, delayMs && { delayMs });
  const installation = await prepareFreshInstallation(stack, environment, {
    ai,
    core: null,
    apiEnv: { DATABASE_POOL: String(POOL), EXECUTION_CONCURRENCY: String(CONCURRENCY) },
  });
  const { db, jwtSecret } = installation;
  await insertUsers(db, { count: count / TASKS_EACH, jwtSecret });
  await insertTasks(db, TASKS_EACH);
  return installation;
}

async function measureRun({ db, databaseUrl, start }: FreshInstallation, load: Load): Promise<RunFigures> {
  await using round = new AsyncDisposableStack();
  const samples = startSampling(round, databaseUrl);
  await start(round, load);
  return await measureStarted(db, samples, load);
}

async function measureSlow(stack: AsyncDisposableStack, environment: Environment, load: Load) {
  const delayMs = SLOW_MS[environment.quick ? 'quick' : 'full'];
  const { db, databaseUrl, start } = await prepare(stack, environment, { ...load, delayMs });
  await using processes = new AsyncDisposableStack();
  await start(processes, load);
  const paced = (await measurePaced(db, databaseUrl, environment)) / load.processes;
  const measureWithSamples = async () => {
    await using sampling = new AsyncDisposableStack();
    return await measureStarted(db, startSampling(sampling, databaseUrl), load);
  };
  const figures = await measureWithSamples();
  return { ...figures, pacedWaiting: paced * 100, idle: await measureIdle(db, environment) };
}

async function measureStarted(
  db: FreshInstallation['db'],
  samples: readonly Sample[],
  { processes, count }: Load,
): Promise<RunFigures> {
  const since = new Date();
  const { due, lastCompletionMs } = await runAllDue(db, { count, timeoutMs: TIMEOUT_MS });
  await assertWritten(db, since, count);
  const most = await readMostRunning(db, since);
  const [from, to] = [due.getTime(), due.getTime() + lastCompletionMs];
  const during = samples.filter(({ at }) => at >= from && at <= to);
  return {
    rate: (count / lastCompletionMs) * 1000,
    waiting: (meanWaiting(during) / processes) * 100,
    connections: highest(samples.map(({ connections }) => connections)),
    running: highest([most.total, ...during.map(({ running }) => running)]),
    runningOfUser: highest([most.ofUser, ...during.map(({ runningOfUser }) => runningOfUser)]),
  };
}

const describe = ({ rate, waiting, connections, running, runningOfUser }: RunFigures): string =>
  `${formatNumber(rate)} executions/s, waits for locks ${formatNumber(waiting)} %, ${connections} connections, ${running} running, ${runningOfUser} of a user`;

const HOW = `a sample every 20 ms reads from pg_stat_activity how many statements wait for a lock of another transaction: an execution, an account, a user's events, anything. Divided by the processes, it is the part of its time that a process waits. No process is pinned, and all share the cores with PostgreSQL, the scheduler and the AI server`;

function compare(who: string, figures: readonly RunFigures[], one: readonly RunFigures[]): Comparison[] {
  const valuesOf = (key: keyof RunFigures, of = figures) => of.map((figure) => figure[key]);
  return [
    {
      what: `executions with ${who}`,
      unit: 'executions/s',
      values: valuesOf('rate'),
      baseline: { name: 'Carillon with one process', values: valuesOf('rate', one) },
    },
    compareWaiting(who, figures),
  ];
}

const compareWaiting = (who: string, figures: readonly Pick<RunFigures, 'waiting'>[]): Comparison => ({
  what: `waiting for locks, ${who}`,
  unit: '% of the time of a process',
  values: figures.map(({ waiting }) => waiting),
  aim: { atMost: MAX_WAITING_PERCENT },
  note: HOW,
});

function compareLimits(all: readonly RunFigures[]): Comparison[] {
  const note = `the most of all rounds and of a run with answers after 0.5 to 1.5 s, in which the slots of the processes are more than may run: by the samples, and by the instants that are stored`;
  return [
    {
      what: 'executions running at once, most',
      unit: 'executions',
      values: [highest(all.map(({ running }) => running))],
      aim: { atMost: LIMITS.total },
      note,
    },
    {
      what: 'executions of one user running at once, most',
      unit: 'executions',
      values: [highest(all.map(({ runningOfUser }) => runningOfUser))],
      aim: { atMost: LIMITS.ofUser },
      note,
    },
  ];
}

function compareIdle(processes: number, { transactionsPerSecond, processorPercent }: IdleCost): Comparison[] {
  const who = `${processes} idle processes`;
  return [
    { what: `${who} and a scheduler`, unit: 'transactions/s', values: [transactionsPerSecond], better: 'lower' },
    { what: `${who}: processor time of PostgreSQL`, unit: '% of a core', values: [processorPercent] },
  ];
}
