import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type AiServer, startAiServer } from '../../../../../test/system/servers/ai-server.ts';
import type { Benchmark, Comparison } from '../../benchmark.ts';
import { fillUsersWithTasks } from '../../environment/fill-tables.ts';
import { connectDatabase, install } from '../../environment/installation.ts';
import { readDatabaseProcessorSeconds, readProcessorSeconds } from '../../environment/resources.ts';
import { formatNumber, p99, sortAscending } from '../../statistics.ts';
import { vacuumAndCheckpoint, waitForRuns } from '../due-tasks.ts';

const USERS = 100_000;
const TASKS_EACH = 10;
const MINUTES = 10;
const DUE_PER_MINUTE = 10_000;
/** Covers making them due and `vacuum analyze`. */
const LEAD_MS = 60_000;
const POLL_MS = 1000;
const TIMEOUT_MS = 60_000;
const INTERVAL_MS = 60_000 / DUE_PER_MINUTE;

export const million: Benchmark = {
  about: `${USERS.toLocaleString('en-US')} users with ${TASKS_EACH} daily tasks each, 1 % of them due each minute for ${MINUTES} minutes, with immediate AI answers`,
  async run(stack, environment) {
    const { quick, server } = environment;
    const [users, count] = quick ? [1000, 100] : [USERS, MINUTES * DUE_PER_MINUTE];
    const databaseUrl = await server.newDatabase();
    const db = connectDatabase(stack, databaseUrl);
    // Room for the next version of a task on its page, so that the update below does not move the due tasks together.
    await db.execute(sql`alter table tasks set (fillfactor = 90)`);
    await fillUsersWithTasks(databaseUrl, { users, each: TASKS_EACH });
    await db.execute(sql`alter table tasks reset (fillfactor)`);
    const ai = await startAiServer(stack, server.folder, { record: true });
    const { api } = await install(stack, environment, { ai, databaseUrl });
    const due = { first: new Date(Date.now() + (quick ? 5000 : LEAD_MS)), count };
    await makeDue(db, due);
    await vacuumAndCheckpoint(db);
    const idleMs = due.first.getTime() - Date.now();
    if (idleMs < 0) throw new Error('Making the tasks due took too long.');

    await delay(idleMs);
    const before = await readSeconds(db, api.pid);
    await delay(due.first.getTime() + count * INTERVAL_MS - Date.now());
    await waitForRuns(db, { timeoutMs: TIMEOUT_MS, pollMs: POLL_MS });
    const after = await readSeconds(db, api.pid);
    const startedMs = await readStarts(db, due);
    const arrivedMs = await readArrivals(ai, due);
    const perRun = (key: keyof typeof after) => ((after[key] - before[key]) * 1000) / count;
    return [
      ...compare('from the planned instant to the start', startedMs),
      ...compare('from the planned instant to the AI server', arrivedMs),
      { what: 'processor time of the API for each run', unit: 'ms', values: [perRun('api')] },
      { what: 'processor time of PostgreSQL for each run', unit: 'ms', values: [perRun('postgres')], note: NOTE },
    ];
  },
};

interface DueTasks {
  first: Date;
  count: number;
}

const NOTE = `measured once: ${DUE_PER_MINUTE.toLocaleString('en-US')} runs a minute, ${INTERVAL_MS} ms apart, each of another user; all other tasks are due two days later. Autovacuum and checkpoints run as they do by default. The processor time of PostgreSQL includes them`;

function compare(what: string, lateMs: readonly number[]): Comparison[] {
  const ascending = sortAscending(lateMs);
  console.log(`  ${what}: median ${formatNumber(ascending[Math.floor(ascending.length / 2)] ?? Number.NaN)} ms`);
  return [
    { what: `${what}, p99`, unit: 'ms', values: [p99(lateMs)], aim: { atMost: 100 } },
    { what: `${what}, max`, unit: 'ms', values: [ascending.at(-1) ?? Number.NaN], aim: { atMost: 1000 } },
  ];
}

async function makeDue(db: Db, { first, count }: DueTasks): Promise<void> {
  await db.execute(sql`
    update tasks t set scheduled_for = at, next_execution_at = at
    from (
      select id, ${first.toISOString()}::timestamptz + place * ${INTERVAL_MS}::float8 * interval '1 ms' as at
      from (select id, substr(name, 7)::int as place from tasks where name like 'First %') f where place < ${count}::int
    ) f where t.id = f.id`);
}

async function readSeconds(db: Db, apiPid: number) {
  return { api: readProcessorSeconds(apiPid), postgres: await readDatabaseProcessorSeconds(db) };
}

/** Returns the lateness of the starts in milliseconds. */
async function readStarts(db: Db, { count }: DueTasks): Promise<number[]> {
  const completed = await queryRows<{ late: number }>(
    db,
    sql`
    select (extract(epoch from started_at - planned_for) * 1000)::float8 as late
    from executions where status = 'completed'`,
  );
  if (completed.length !== count) throw new Error(`${completed.length} of ${count} executions were completed.`);
  return completed.map(({ late }) => late);
}

/** Returns the lateness of the calls in milliseconds. */
async function readArrivals(ai: AiServer, { first, count }: DueTasks): Promise<number[]> {
  const arrivals = await ai.takeArrivals();
  if (arrivals.length !== count) throw new Error(`${arrivals.length} of ${count} calls reached the AI server.`);
  return arrivals.map(({ prompt, at }) => {
    const [, place] = /No\. (\d+)$/.exec(prompt) ?? [];
    return at - first.getTime() - Number(place) * INTERVAL_MS;
  });
}
