import { startAiServer } from '../../../../../test/system/servers/ai-server.ts';
import { type Benchmark, type Comparison, type Environment, measureInRounds } from '../../benchmark.ts';
import { keepCoresBusy } from '../../environment/busy-cores.ts';
import { startRedis } from '../../environment/servers/redis.ts';
import { formatNumber, median, p99 } from '../../statistics.ts';
import { type Lateness, prepareCarillon, prepareCarillonStarts, type Tasks } from './carillon.ts';
import { prepareQueue } from './queues.ts';

const INTERVAL_MS = 30;
/** The time between writing the due instants and the first one. */
const LEAD_MS = 2000;
const START_LEAD_MS = 1100;
const BUSY_SHARE = 0.7;

type Results = Record<string, Lateness[]>;

export const lateness: Benchmark = {
  about: `tasks due ${INTERVAL_MS} ms apart, 500 or after a start 100: delay until the AI server, compared with a timer in the same conditions`,
  async run(stack, environment) {
    const { quick, server } = environment;
    const ai = await startAiServer(stack, server.folder, { record: true });
    const tasks = { ai, count: quick ? 20 : 500, intervalMs: INTERVAL_MS };
    const idle = await measureIdle(environment, tasks);
    const afterStart = await measureAfterStart(environment, { ...tasks, count: quick ? 20 : 100 });
    const busy = await measureBusy(environment, tasks);
    return [
      {
        what: 'on an idle machine, from the planned instant to the start, p99',
        unit: 'ms',
        values: (idle.carillon ?? []).map(({ startedMs = [] }) => p99(startedMs)),
      },
      ...compareWithTimer('on an idle machine', idle),
      ...['BullMQ', 'pg-boss', 'graphile-worker'].map((name) =>
        toRow('on an idle machine', readP99(idle, 'carillon'), toBaseline(name, idle)),
      ),
      ...compareWithTimer('right after a start', afterStart),
      ...compareWithTimer(`with all cores ${BUSY_SHARE * 100} % busy`, busy),
    ];
  },
};

/** After one round that does not count, because starts have rows of their own. */
async function prepareWarm(stack: AsyncDisposableStack, environment: Environment, tasks: Tasks) {
  const run = await prepareCarillon(stack, environment, { ...tasks, leadMs: LEAD_MS });
  await run();
  return run;
}

async function measureIdle(environment: Environment, tasks: Tasks): Promise<Results> {
  await using stack = new AsyncDisposableStack();
  const { folder } = environment.server;
  const leadMs = environment.quick ? 500 : LEAD_MS;
  const queue = (name: string, redisPort?: number) =>
    prepareQueue(stack, environment, { ...tasks, name, leadMs, ...(redisPort && { redisPort }) });
  const redisPort = await startRedis(stack, folder);
  return await measure(environment, 'idle', {
    carillon: await prepareWarm(stack, environment, tasks),
    timer: await queue('timer'),
    'pg-boss': await queue('pg-boss'),
    'graphile-worker': await queue('graphile-worker'),
    ...(redisPort !== null && { BullMQ: await queue('bullmq', redisPort) }),
  });
}

async function measureAfterStart(environment: Environment, tasks: Tasks): Promise<Results> {
  await using stack = new AsyncDisposableStack();
  return await measure(environment, 'after a start', {
    carillon: await prepareCarillonStarts(stack, environment, tasks),
    timer: await prepareQueue(stack, environment, { ...tasks, name: 'timer', leadMs: START_LEAD_MS }),
  });
}

async function measureBusy(environment: Environment, tasks: Tasks): Promise<Results> {
  await using stack = new AsyncDisposableStack();
  const contestants = {
    carillon: await prepareWarm(stack, environment, tasks),
    timer: await prepareQueue(stack, environment, { ...tasks, name: 'timer', leadMs: LEAD_MS }),
  };
  await keepCoresBusy(stack, environment.server.folder, BUSY_SHARE);
  return await measure(environment, 'busy', contestants);
}

function measure(
  { rounds }: Environment,
  condition: string,
  contestants: Record<string, () => Promise<Lateness>>,
): Promise<Results> {
  return measureInRounds(
    rounds,
    contestants,
    ({ arrivedMs }) => `p99 ${formatNumber(p99(arrivedMs))} ms until the AI server, ${condition}`,
  );
}

/** The aim holds for every round. */
function compareWithTimer(condition: string, results: Results): Comparison[] {
  const carillon = readP99(results, 'carillon');
  const timer = readP99(results, 'timer');
  const name = 'a timer for the next due row';
  return [
    toRow(condition, carillon, { name, values: timer }),
    {
      ...toRow(`${condition}, worst round`, [Math.max(...carillon)], {
        name: `${name}, median`,
        values: [median(timer)],
      }),
      aim: { atMost: 3 },
    },
  ];
}

const toRow = (condition: string, values: number[], baseline: NonNullable<Comparison['baseline']>): Comparison => ({
  what: `${condition}, p99`,
  unit: 'ms',
  values,
  baseline,
});

const toBaseline = (name: string, results: Results): NonNullable<Comparison['baseline']> =>
  results[name] ? { name, values: readP99(results, name) } : { name, missing: 'no redis-server' };

const readP99 = (results: Results, name: string): number[] =>
  (results[name] ?? []).map(({ arrivedMs }) => p99(arrivedMs));
