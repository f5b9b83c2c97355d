import { setTimeout as delay } from 'node:timers/promises';
import { findWrongTotals } from '@carillon/api/product/uploads/totals';
import { findWrongCounters } from '@carillon/api/product/usage/verify';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { compareDeliveries } from './deliveries.ts';
import type { SentRequest } from './mixed-load.ts';
import type { AiServer, Arrival } from './servers/ai-server.ts';
import type { Receiver } from './servers/receiver.ts';
import { setDue, type Task } from './users.ts';

/** The leases of a killed process expire after 30 s and are checked every 30 s. */
const COMPLETION_TIMEOUT_MS = 120_000;

export interface Audit {
  /** Makes every scheduled task due once, spread over this time. */
  scheduleOver(overMs: number): Promise<void>;
  /** Waits until everything is completed and checks all executions since `scheduleOver`. */
  check(requests: readonly SentRequest[]): Promise<AuditResult>;
}

export interface AuditResult {
  /** A line for each row that was lost, executed twice or counted wrong. */
  errors: string[];
  /** How many of the errors are losses: of an acknowledged write, an occurrence, or an event. */
  lost: number;
  /** How many of the errors are occurrences, calls or events that are there twice. */
  doubled: number;
  runs: number;
  /** How often an execution was interrupted and recovered. */
  interruptions: number;
  /** How many calls of the provider were repeated after an interruption. */
  repeatedCalls: number;
  /** How many deliveries arrived again. */
  repeatedDeliveries: number;
  /** How long after the planned instant the provider was called, in milliseconds, of each scheduled execution. */
  latenessMs: number[];
}

export interface AuditOptions {
  db: Db;
  ai: Pick<AiServer, 'takeArrivals'>;
  /** Gets `execution.completed` of every task. Default: events are not checked. */
  receiver?: Pick<Receiver, 'takeDeliveries'>;
  scheduled: readonly Task[];
}

/** What the provider received, by prompt: each task has its own. */
type Calls = ReadonlyMap<string, readonly Arrival[]>;

/** Compares the database, the calls of the AI server and the deliveries with the acknowledged requests. */
export function createAudit({ db, ai, receiver, scheduled }: AuditOptions): Audit {
  let lastId = 0;

  const waitForCompletion = async () => {
    const deadline = performance.now() + COMPLETION_TIMEOUT_MS;
    for (;;) {
      const [row] = await queryRows<{ runs: number; due: number; deliveries: number }>(
        db,
        sql`
        select (select count(*)::int from executions where status in ('pending', 'running')) as runs,
          (select count(*)::int from tasks where next_execution_at < now() + interval '1 hour') as due,
          (select count(*)::int from deliveries where status in ('pending', 'sending')) as deliveries`,
      );
      if (row?.runs === 0 && row.due === 0 && row.deliveries === 0) return [];
      if (performance.now() > deadline)
        return [
          `${row?.runs} executions are not completed, ${row?.due} tasks are still due, ${row?.deliveries} deliveries wait`,
        ];
      await delay(200);
    }
  };

  const findLost = async (requests: readonly SentRequest[]) => {
    const lost: string[] = [];
    for (const [kind, table] of [
      ['create', sql`tasks`],
      ['execute', sql`executions`],
      ['upload', sql`uploads`],
    ] as const) {
      const ids = requests.flatMap((request) =>
        request.kind === kind && request.id !== null ? String(request.id) : [],
      );
      const found = await queryRows<{ id: string }>(
        db,
        sql`select id::text as id from ${table} where id::text = any(${`{${ids.join(',')}}`}::text[])`,
      );
      const stored = new Set(found.map(({ id }) => id));
      lost.push(...ids.filter((id) => !stored.has(id)).map((id) => `lost: ${kind} ${id}`));
    }
    return lost;
  };

  const compareRuns = async (calls: Calls) => {
    const errors: string[] = [];
    const [lost, doubled]: [string[], string[]] = [[], []];
    const runs = await queryRows<{
      prompt: string;
      runs: number;
      completed: number;
      interruptions: number;
      planned: number;
    }>(
      db,
      sql`
      select t.prompt, count(*)::int as runs, count(*) filter (where e.status = 'completed')::int as completed,
        sum(e.interruptions)::int as interruptions, count(e.planned_for)::int as planned
      from executions e join tasks t on t.id = e.task_id where e.id > ${lastId} group by t.id, t.prompt`,
    );
    const countCalls = (prompt: string) => calls.get(prompt)?.length ?? 0;
    let repeatedCalls = 0;
    for (const task of runs) {
      const name = task.prompt.slice(-20);
      if (task.completed !== task.runs)
        errors.push(`${task.runs - task.completed} executions of "…${name}" are not completed`);
      const [min, max] = [task.runs, task.runs + task.interruptions];
      const actual = countCalls(task.prompt);
      const range = `"…${name}" was called ${actual} times for ${min} to ${max} executions`;
      if (actual < min) errors.push(range);
      if (actual > max) doubled.push(`doubled: ${range}`);
      repeatedCalls += Math.max(0, actual - task.runs);
    }
    const planned = new Map(runs.map(({ prompt, planned }) => [prompt, planned]));
    for (const { prompt } of scheduled) {
      const count = planned.get(prompt) ?? 0;
      const line = `"…${prompt.slice(-20)}" was due once and executed ${count} times`;
      if (count === 0) lost.push(`lost: ${line}`);
      if (count > 1) doubled.push(`doubled: ${line}`);
    }
    const total = (column: 'runs' | 'interruptions') => runs.reduce((sum, task) => sum + task[column], 0);
    return { errors, lost, doubled, runs: total('runs'), interruptions: total('interruptions'), repeatedCalls };
  };

  const compareReceived = async () => {
    if (!receiver) return { lost: [], doubled: [], repeated: 0 };
    const completed = await queryRows<{ id: number }>(
      db,
      sql`select id from executions where id > ${lastId} and status = 'completed'`,
    );
    const ids = completed.map(({ id }) => id);
    return compareDeliveries(ids, await receiver.takeDeliveries());
  };

  const readLateness = async (calls: Calls) => {
    const planned = await queryRows<{ prompt: string; plannedAt: number }>(
      db,
      sql`
      select t.prompt, 1000 * extract(epoch from e.planned_for)::float8 as "plannedAt"
      from executions e join tasks t on t.id = e.task_id where e.id > ${lastId} and e.planned_for is not null`,
    );
    return planned.flatMap(({ prompt, plannedAt }) => {
      const called = calls.get(prompt) ?? [];
      return called.length > 0 ? [Math.min(...called.map(({ at }) => at)) - plannedAt] : [];
    });
  };

  return {
    async scheduleOver(overMs) {
      const [newest] = await queryRows<{ id: number }>(db, sql`select coalesce(max(id), 0)::int as id from executions`);
      lastId = newest?.id ?? 0;
      await Promise.all([ai.takeArrivals(), receiver?.takeDeliveries()]);
      const taskIds = scheduled.map(({ id }) => id);
      await setDue(db, new Date(Date.now() + 1000), { intervalMs: overMs / scheduled.length, taskIds });
    },
    async check(requests) {
      const incomplete = await waitForCompletion();
      const calls = Map.groupBy(await ai.takeArrivals(), ({ prompt }) => prompt);
      const { errors, ...runs } = await compareRuns(calls);
      const received = await compareReceived();
      const lost = [...(await findLost(requests)), ...runs.lost, ...received.lost];
      const doubled = [...runs.doubled, ...received.doubled];
      errors.unshift(...incomplete, ...lost, ...doubled);
      for (const { userId, period } of await findWrongCounters(db))
        errors.push(`wrong usage of user ${userId}, ${period}`);
      for (const { userId } of await findWrongTotals(db)) errors.push(`wrong upload total of user ${userId}`);
      return {
        ...runs,
        errors,
        lost: lost.length,
        doubled: doubled.length,
        repeatedDeliveries: received.repeated,
        latenessMs: await readLateness(calls),
      };
    },
  };
}
