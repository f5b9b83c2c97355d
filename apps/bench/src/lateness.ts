import { setTimeout as delay } from 'node:timers/promises';
import { type Db, rows, toInstant } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Client, signUp } from './client.ts';
import { printFigures } from './figures.ts';
import { type Installation, install } from './installation.ts';
import type { Bench } from './main.ts';

const TASKS = 200;
const SPREAD_MS = 100;
const WARM_UP = 30;
const PEOPLE = 5;
/** Between the moment at which all are saved and the first planned instant. */
const AHEAD_MS = 3000;
const PATIENCE_MS = 30_000;

interface Run {
  prompt: string;
  plannedFor: number;
  startedAt: number;
}

/** How late scheduled runs start, and reach the provider, after the instant they were planned for. */
export const lateness: Bench = {
  about: `${TASKS} tasks due ${SPREAD_MS} ms apart: how late they start and reach the provider`,
  async run(stack) {
    const installation = await install(stack);
    const { apiUrl, db } = installation;
    const people = await Promise.all(Array.from({ length: PEOPLE }, () => signUp(apiUrl, db)));
    await plan(people, 'Warm-up', WARM_UP);
    await ended(db, WARM_UP);

    const name = 'Measured';
    await plan(people, name, TASKS);
    await ended(db, WARM_UP + TASKS);
    report(await findRuns(db, name), installation.arrivals());
  },
};

/** Saves tasks that fall due one after the other, and waits for the last of them. */
async function plan(people: readonly Client[], name: string, count: number) {
  const savingMs = count * 20;
  const firstAt = Date.now() + savingMs + AHEAD_MS;
  const saveShare = async (person: Client, first: number) => {
    for (let n = first; n < count; n += people.length) {
      await person.post('/api/agent/create-task', {
        name,
        prompt: `${name} ${n}: name a moon of Saturn.`,
        scheduledFor: new Date(firstAt + n * SPREAD_MS).toISOString(),
        recurrence: 'once',
        timezone: 'UTC',
      });
    }
  };
  await Promise.all(people.map(saveShare));
  const aheadMs = firstAt - Date.now();
  if (aheadMs < 2000) throw new Error(`Saving took too long: the first run is due in ${aheadMs} ms.`);
  console.log(`${name}: ${count} tasks are saved, the first is due in ${aheadMs} ms.`);
  await delay(aheadMs + count * SPREAD_MS);
}

async function ended(db: Db, count: number) {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const [row] = await rows<{ completed: number; failed: number }>(
      db,
      sql`select count(*) filter (where status = 'completed')::int as completed,
        count(*) filter (where status = 'failed')::int as failed from executions`,
    );
    if (row?.failed) throw new Error(`${row.failed} executions failed.`);
    if (row?.completed === count) return;
    if (performance.now() > deadline) throw new Error(`Only ${row?.completed} of ${count} executions were completed.`);
    await delay(100);
  }
}

async function findRuns(db: Db, name: string): Promise<Run[]> {
  const found = await rows<{ prompt: string; plannedFor: string; startedAt: string }>(
    db,
    sql`select t.prompt, e.planned_for as "plannedFor", e.started_at as "startedAt"
      from executions e join tasks t on t.id = e.task_id where t.name = ${name} order by e.planned_for`,
  );
  return found.map(({ prompt, plannedFor, startedAt }) => ({
    prompt,
    plannedFor: toInstant(plannedFor).getTime(),
    startedAt: toInstant(startedAt).getTime(),
  }));
}

function report(runs: readonly Run[], arrivals: ReturnType<Installation['arrivals']>) {
  const arrivedAt = new Map(arrivals.map(({ prompt, at }) => [prompt, at]));
  const late = {
    'started after its instant (ms)': runs.map((run) => run.startedAt - run.plannedFor),
    'reached the provider (ms)': runs.map((run) => (arrivedAt.get(run.prompt) ?? Number.NaN) - run.plannedFor),
  };
  console.log(`\n${runs.length} runs, planned ${SPREAD_MS} ms apart`);
  printFigures(late);
}
