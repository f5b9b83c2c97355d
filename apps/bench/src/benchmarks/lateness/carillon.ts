import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { AiServer } from '../../../../../test/system/servers/ai-server.ts';
import { insertTasks, insertUsers } from '../../../../../test/system/users.ts';
import type { Environment } from '../../benchmark.ts';
import { connectDatabase, install } from '../../environment/installation.ts';
import { scheduleAll, vacuumAndCheckpoint } from '../due-tasks.ts';
import { readWallClockOffset, toLateness } from './arrivals.ts';

const TASKS_EACH = 20;
/** From the last due instant on. */
const TIMEOUT_MS = 30_000;
/** From the readiness of both processes to the first due instant. The scheduler asks for it once a second. */
const START_LEAD_MS = 1100;

/** In milliseconds. */
export interface Lateness {
  /** At the AI server, in the order of the arrivals. */
  arrivedMs: number[];
  /** Of `started_at`; only for Carillon. */
  startedMs?: number[];
}

export interface Tasks {
  ai: AiServer;
  /** A multiple of 20. */
  count: number;
  intervalMs: number;
}

/** Starts an installation and returns a function that makes all tasks due once, `leadMs` from the call on. */
export async function prepareCarillon(
  stack: AsyncDisposableStack,
  environment: Environment,
  { leadMs, ...tasks }: Tasks & { leadMs: number },
): Promise<() => Promise<Lateness>> {
  const { db, jwtSecret } = await install(stack, environment, { ai: tasks.ai });
  await insertUsers(db, { count: tasks.count / TASKS_EACH, jwtSecret });
  const readDueAt = await addTasks(db, tasks);
  return async () => {
    await vacuumAndCheckpoint(db);
    return measure(db, tasks, readDueAt, await scheduleAll(db, { leadMs, intervalMs: tasks.intervalMs }));
  };
}

/** Returns a function that starts new processes and makes all tasks due once, the first one soon after the start. */
export async function prepareCarillonStarts(
  stack: AsyncDisposableStack,
  environment: Environment,
  tasks: Tasks,
): Promise<() => Promise<Lateness>> {
  const { ai, count, intervalMs } = tasks;
  const databaseUrl = await environment.server.newDatabase();
  const db = connectDatabase(stack, databaseUrl);
  await insertUsers(db, { count: count / TASKS_EACH, jwtSecret: 'unused, because no request has a session' });
  const readDueAt = await addTasks(db, tasks);
  return async () => {
    await using round = new AsyncDisposableStack();
    await vacuumAndCheckpoint(db);
    await install(round, environment, { ai, databaseUrl });
    return await measure(db, tasks, readDueAt, await scheduleAll(db, { leadMs: START_LEAD_MS, intervalMs }));
  };
}

type ReadDueAt = (first: Date) => (prompt: string) => number;

async function addTasks(db: Db, { intervalMs }: Tasks): Promise<ReadDueAt> {
  const tasks = await insertTasks(db, TASKS_EACH);
  const ids = tasks.toSorted((a, b) => a.id - b.id);
  const positions = new Map(ids.map(({ prompt }, position) => [prompt, position]));
  return (first) => (prompt) => first.getTime() + intervalMs * (positions.get(prompt) ?? Number.NaN);
}

async function measure(db: Db, { ai, count, intervalMs }: Tasks, readDueAt: ReadDueAt, first: Date): Promise<Lateness> {
  await ai.takeArrivals();
  const offset = readWallClockOffset();
  await delay(first.getTime() - Date.now() + count * intervalMs);
  const startedMs = await readStartLateness(db, first, count);
  return { startedMs, arrivedMs: toLateness(await ai.takeArrivals(), readDueAt(first), offset) };
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
