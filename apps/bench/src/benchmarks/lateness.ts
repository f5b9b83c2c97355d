import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Benchmark, Environment } from '../benchmark.ts';
import { type Comparison, measureInRounds } from '../comparison.ts';
import { connectDatabase, install } from '../environment/installation.ts';
import { resolveProgram, SERVER_CORE, startProcess } from '../environment/processes.ts';
import { type AiServer, type Arrival, startAiServer } from '../environment/servers/ai-server.ts';
import { startRedis } from '../environment/servers/redis.ts';
import { insertTasks, insertUsers } from '../environment/users.ts';
import { formatNumber, p99 } from '../statistics.ts';
import { scheduleAll, vacuumAndCheckpoint } from './due-tasks.ts';

const TASKS_EACH = 20;
const INTERVAL_MS = 30;
/** Between the moment at which all are written and the first instant. */
const LEAD_MS = 2000;
/** From the last instant on. */
const TIMEOUT_MS = 30_000;

/** How late a job reached the provider, for each of a round; of Carillon also how late its row says that it started. */
interface Lateness {
  reachedMs: number[];
  startedMs?: number[];
}

/** How late a run starts on an idle machine. */
export const lateness: Benchmark = {
  about: `500 tasks due ${INTERVAL_MS} ms apart on an idle machine: how late they start and reach the provider`,
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
      ...{ carillon, timer, 'pg-boss': boss, 'graphile-worker': graphile },
      ...(bullmq && { bullmq }),
    };
    const results = await measureInRounds(
      environment.rounds,
      contestants,
      ({ reachedMs }) => `reached the provider at most ${formatNumber(p99(reachedMs))} ms late in 99 of 100`,
    );
    const reached = (name: string) => (results[name] ?? []).map(({ reachedMs }) => p99(reachedMs));
    const baselines: NonNullable<Comparison['baseline']>[] = [
      { name: 'a timer to the next due row', values: reached('timer') },
      bullmq ? { name: 'BullMQ', values: reached('bullmq') } : { name: 'BullMQ', missing: 'no redis-server' },
      { name: 'pg-boss', values: reached('pg-boss') },
      { name: 'graphile-worker', values: reached('graphile-worker') },
    ];
    return [
      {
        what: 'started after the planned instant, p99',
        unit: 'ms',
        values: (results.carillon ?? []).map(({ startedMs = [] }) => p99(startedMs)),
        aim: { atMost: 15 },
      },
      ...baselines.map((baseline, place) => ({
        what: 'reached the provider after the planned instant, p99',
        unit: 'ms',
        values: reached('carillon'),
        baseline,
        ...(place === 0 && { aim: { atMost: 3 } }),
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
  const inOrder = tasks.toSorted((a, b) => a.id - b.id);
  const places = new Map(inOrder.map(({ prompt }, place) => [prompt, place]));
  return async () => {
    await vacuumAndCheckpoint(db);
    await ai.takeArrivals();
    const first = (await scheduleAll(db, { leadMs: LEAD_MS, apartMs: INTERVAL_MS })).getTime();
    await delay(first - Date.now() + count * INTERVAL_MS);
    const startedMs = await readStartLateness(db, new Date(first), count);
    const arrived = await ai.takeArrivals();
    return {
      startedMs,
      reachedMs: arrived.map(({ prompt, at }) => at - first - INTERVAL_MS * (places.get(prompt) as number)),
    };
  };
}

/** How late the executions of instants from `first` on say that they started, once all of them have ended. */
async function readStartLateness(db: Db, first: Date, count: number): Promise<number[]> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const ended = await queryRows<{ late: number }>(
      db,
      sql`
      select (extract(epoch from started_at - planned_for) * 1000)::float8 as late from executions
      where status = 'completed' and planned_for >= ${first.toISOString()}::timestamptz`,
    );
    if (ended.length === count) return ended.map(({ late }) => late);
    if (performance.now() > deadline) throw new Error(`Only ${ended.length} of ${count} executions were completed.`);
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
        ...{ DATABASE_URL: databaseUrl, AI_URL: ai.url, REDIS_PORT: String(redisPort), COUNT: String(count) },
        ...{ APART_MS: String(INTERVAL_MS), AHEAD_MS: String(quick ? 500 : LEAD_MS) },
      },
      ready: /^(done)$/m,
      timeoutMs: LEAD_MS + count * INTERVAL_MS + TIMEOUT_MS,
    });
    await stop();
    const reachedMs = toLateness(await ai.takeArrivals());
    if (reachedMs.length !== count)
      throw new Error(`${reachedMs.length} of ${count} jobs of ${name} reached the provider.`);
    return { reachedMs };
  };
}

/** How late each job of a queue arrived. A queue may deliver a job more than once: what counts is the first time. */
export function toLateness(arrived: readonly Pick<Arrival, 'prompt' | 'at'>[]): number[] {
  const first = new Map<string, number>();
  for (const { prompt, at } of arrived) first.set(prompt, Math.min(at, first.get(prompt) ?? at));
  return [...first].map(([prompt, at]) => at - Number(prompt.slice('due at '.length)));
}
