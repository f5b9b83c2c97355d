import { startAiServer } from '../../../../../test/system/servers/ai-server.ts';
import { insertTasks, insertUsers } from '../../../../../test/system/users.ts';
import { type Benchmark, type Comparison, measureInRounds } from '../../benchmark.ts';
import { prepareFreshInstallation } from '../../environment/fresh-installation.ts';
import { startRedis } from '../../environment/servers/redis.ts';
import { formatNumber, median } from '../../statistics.ts';
import { measureDueRate } from './due-rate.ts';
import { BASELINES, type BaselineName, type Load, PEERS, prepareBaseline } from './peers.ts';

const CONCURRENCY = 200;
/** Below the quota of 500 executions a day over all rounds. */
const TASKS_EACH = 20;
const AIMS = { batchedSql: 0.8, likeForLike: 0.9, bestPeer: 1 };

/** Executions per second; `warm` is the second run of the same processes. */
interface Rates {
  rate: number;
  warm?: number;
}

export const executions: Benchmark = {
  about:
    'executions per second for 10,000 daily tasks due at the same instant, with immediate AI answers, occurrences, quotas and events, but no webhooks',
  async run(stack, environment) {
    const count = environment.quick ? 40 : 10_000;
    const { folder } = environment.server;
    const ai = await startAiServer(stack, folder);
    const redisPort = await startRedis(stack, folder);
    const load: Load = { ai, redisPort, users: count / TASKS_EACH, tasksEach: TASKS_EACH, concurrency: CONCURRENCY };
    const { db, jwtSecret, measure } = await prepareFreshInstallation(stack, environment, {
      ai,
      apiEnv: { EXECUTION_CONCURRENCY: String(CONCURRENCY) },
    });
    await insertUsers(db, { count: load.users, jwtSecret });
    await insertTasks(db, TASKS_EACH);
    const runAll = () => measureDueRate(db, count);
    const names = (Object.keys(BASELINES) as BaselineName[]).filter((name) => name !== 'bullmq' || redisPort !== null);
    const baselines = await Promise.all(names.map((name) => prepareBaseline(stack, environment, name, load)));
    const contestants: Record<string, () => Promise<Rates>> = {
      carillon: () => measure(async () => ({ rate: await runAll(), warm: await runAll() })),
    };
    names.forEach((name, n) => {
      contestants[name] = async () => ({ rate: (await baselines[n]?.()) ?? Number.NaN });
    });
    const results = await measureInRounds(
      environment.rounds,
      contestants,
      ({ rate, warm }) =>
        `${formatNumber(rate)} executions/s${warm === undefined ? '' : `, again ${formatNumber(warm)}`}`,
    );
    const rates = (name: string) => results[name]?.map(({ rate }) => rate);
    return toComparisons(
      { cold: rates('carillon') ?? [], warm: results.carillon?.map(({ warm }) => warm ?? Number.NaN) ?? [] },
      (name) => rates(name) ?? null,
    );
  },
};

/** A row for each baseline and one for warm processes. Only the fastest peer has an aim. */
function toComparisons(
  carillon: { cold: number[]; warm: number[] },
  readRates: (name: BaselineName) => number[] | null,
): Comparison[] {
  const medianOf = (name: BaselineName) => median(readRates(name) ?? [0]);
  const best = PEERS.toSorted((a, b) => medianOf(b) - medianOf(a))[0];
  const common = { what: 'executions', unit: 'executions/s', values: carillon.cold };
  const timing = `Carillon's time starts at the due instant and includes enqueueing, quotas and events; the time of a baseline starts with its first execution, and the queues hold their jobs before. ${CONCURRENCY} run at once in all of them. For each job the queues write an execution, its occurrence, its usage record, two counters and the state of its task with the next instant, but they reserve no tokens and do not enqueue the next job. All processes are new in each round`;
  const rows = (Object.keys(BASELINES) as BaselineName[]).map((name): Comparison => {
    const { name: label, note } = BASELINES[name];
    const values = readRates(name);
    const aim =
      name === 'batched-sql'
        ? AIMS.batchedSql
        : name === 'like-for-like-sql'
          ? AIMS.likeForLike
          : name === best
            ? AIMS.bestPeer
            : null;
    return {
      ...common,
      baseline: values ? { name: label, values } : { name: label, missing: 'redis-server is not installed' },
      ...(aim !== null && { aim: { atLeast: aim } }),
      note,
    };
  });
  const warm: Comparison = {
    ...common,
    what: 'the same executions again, in processes that have run them once',
    values: carillon.warm,
    baseline: { name: 'Carillon in new processes', values: carillon.cold },
    note: timing,
  };
  return [...rows, warm];
}
