import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Benchmark, type Comparison, type Environment, measureInRounds } from '../benchmark.ts';
import { connectDatabase, install } from '../environment/installation.ts';
import { resolveProgram, SERVER_CORE, startProcess } from '../environment/processes.ts';
import { type AiServer, type Arrival, startAiServer } from '../environment/servers/ai-server.ts';
import { startRedis } from '../environment/servers/redis.ts';
import { insertTasks, insertUsers } from '../environment/users.ts';
import { formatNumber, p99 } from '../statistics.ts';
import { scheduleAll, vacuumAndCheckpoint } from './due-tasks.ts';

const TASKS_EACH = 20;
const INTERVAL_MS = 30;
/** The time between writing the due instants and the first one. */
const LEAD_MS = 2000;
/** From the last due instant on. */
const TIMEOUT_MS = 30_000;

/** The lateness of each job at the AI server and, for Carillon, of `started_at`. */
interface Lateness {
  arrivedMs: number[];
  startedMs?: number[];
}

export const lateness: Benchmark = {
  about: `500 tasks due ${INTERVAL_MS} ms apart on an idle machine: delay until their start and until the AI server`,
  async run(stack, environment) {
    const count = environment.quick ? 20 : 500;
    const { server } = environment;
    const ai = await startAiServer(stack, server.folder, { record: true });
    const redisPort = await startRedis(stack, server.folder);
    const carillon = await prepareCarillon(stack, environment, { ai, count });
    const timer = await prepareQueue(stack, environment, { name: 'timer', ai, count });
    const boss = await prepareQueue(stack, environment, { name: 'pg-boss', ai, count });
    const graphile = await prepareQueue(stack, environment, { name: 'graphile-worker', ai, count });
    const bullmq =
      redisPort === null ? null : await prepareQueue(stack, environment, { name: 'bullmq', ai, count, redisPort });
    const contestants: Record<string, Measure> = {
      carillon,
      timer,
      'pg-boss': boss,
      'graphile-worker': graphile,
      ...(bullmq && { bullmq }),
    };
    const results = await measureInRounds(
      environment.rounds,
      contestants,
      ({ arrivedMs }) => `p99 ${formatNumber(p99(arrivedMs))} ms until the AI server`,
    );
    const getArrivals = (name: string) => (results[name] ?? []).map(({ arrivedMs }) => p99(arrivedMs));
    const baselines: NonNullable<Comparison['baseline']>[] = [
      { name: 'a timer for the next due row', values: getArrivals('timer') },
      bullmq ? { name: 'BullMQ', values: getArrivals('bullmq') } : { name: 'BullMQ', missing: 'no redis-server' },
      { name: 'pg-boss', values: getArrivals('pg-boss') },
      { name: 'graphile-worker', values: getArrivals('graphile-worker') },
    ];
    return [
      {
        what: 'from the planned instant to the start, p99',
        unit: 'ms',
        values: (results.carillon ?? []).map(({ startedMs = [] }) => p99(startedMs)),
        aim: { atMost: 15 },
      },
      ...baselines.map((baseline, index) => ({
        what: 'from the planned instant to the AI server, p99',
        unit: 'ms',
        values: getArrivals('carillon'),
        baseline,
        ...(index === 0 && { aim: { atMost: 3 } }),
      })),
    ];
  },
};

type Measure = () => Promise<Lateness>;

interface Contestant {
  ai: AiServer;
  count: number;
}

async function prepareCarillon(
  stack: AsyncDisposableStack,
  environment: Environment,
  { ai, count }: Contestant,
): Promise<Measure> {
  const { db, jwtSecret } = await install(stack, environment, { ai });
  await insertUsers(db, { count: count / TASKS_EACH, jwtSecret });
  const tasks = await insertTasks(db, TASKS_EACH);
  const sorted = tasks.toSorted((a, b) => a.id - b.id);
  const positions = new Map(sorted.map(({ prompt }, position) => [prompt, position]));
  return async () => {
    await vacuumAndCheckpoint(db);
    await ai.takeArrivals();
    const first = (await scheduleAll(db, { leadMs: LEAD_MS, intervalMs: INTERVAL_MS })).getTime();
    await delay(first - Date.now() + count * INTERVAL_MS);
    const startedMs = await readStartLateness(db, new Date(first), count);
    const arrivals = await ai.takeArrivals();
    return {
      startedMs,
      arrivedMs: arrivals.map(({ prompt, at }) => at - first - INTERVAL_MS * (positions.get(prompt) as number)),
    };
  };
}

/** Waits for the executions planned from `first` on and returns their lateness at the start in milliseconds. */
async function readStartLateness(db: Db, first: Date, count: number): Promise<number[]> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const completed = await queryRows<{ late: number }>(
      db,
      sql`
      select (extract(epoch from started_at - planned_for) * 1000)::float8 as late from executions
      where status = 'completed' and planned_for >= ${first.toISOString()}::timestamptz`,
    );
    if (completed.length === count) return completed.map(({ late }) => late);
    if (performance.now() > deadline)
      throw new Error(`Only ${completed.length} of ${count} executions were completed.`);
    await delay(100);
  }
}

async function prepareQueue(
  stack: AsyncDisposableStack,
  { server, quick }: Environment,
  { name, ai, count, redisPort = 0 }: Contestant & { name: string; redisPort?: number },
): Promise<Measure> {
  const databaseUrl = await server.newDatabase();
  const db = connectDatabase(stack, databaseUrl);
  return async () => {
    await vacuumAndCheckpoint(db);
    await ai.takeArrivals();
    const { stop } = await startProcess(stack, {
      name: `delayed-${name}`,
      file: resolveProgram(`baselines/delayed/${name}-main.ts`),
      folder: server.folder,
      core: SERVER_CORE,
      env: {
        DATABASE_URL: databaseUrl,
        AI_URL: ai.url,
        REDIS_PORT: String(redisPort),
        COUNT: String(count),
        INTERVAL_MS: String(INTERVAL_MS),
        LEAD_MS: String(quick ? 500 : LEAD_MS),
      },
      ready: /^(done)$/m,
      timeoutMs: LEAD_MS + count * INTERVAL_MS + TIMEOUT_MS,
    });
    await stop();
    const arrivedMs = toLateness(await ai.takeArrivals());
    if (arrivedMs.length !== count)
      throw new Error(`${arrivedMs.length} of ${count} jobs of ${name} reached the AI server.`);
    return { arrivedMs };
  };
}

/** The lateness of each job in milliseconds. A queue may deliver a job twice; the first time counts. */
export function toLateness(arrivals: readonly Pick<Arrival, 'prompt' | 'at'>[]): number[] {
  const first = new Map<string, number>();
  for (const { prompt, at } of arrivals) first.set(prompt, Math.min(at, first.get(prompt) ?? at));
  return [...first].map(([prompt, at]) => at - Number(prompt.slice('due at '.length)));
}
