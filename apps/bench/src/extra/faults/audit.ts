import { setTimeout as delay } from 'node:timers/promises';
import { findWrongTotals } from '@carillon/api/uploads/totals';
import { findWrongCounters } from '@carillon/api/usage/verify';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { SentRequest } from '../../environment/mixed-load.ts';
import type { AiServer } from '../../environment/servers/ai-server.ts';
import { setDue, type Task } from '../../environment/users.ts';

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
  runs: number;
  /** How often an execution was interrupted and recovered. */
  interruptions: number;
  /** The lateness of the scheduled executions in milliseconds. */
  latenessMs: number[];
}

/** Compares the database and the calls of the AI server with the acknowledged requests. */
export function createAudit({
  db,
  ai,
  scheduled,
}: {
  db: Db;
  ai: Pick<AiServer, 'takeArrivals'>;
  scheduled: readonly Task[];
}): Audit {
  let lastId = 0;

  const waitForCompletion = async () => {
    const deadline = performance.now() + COMPLETION_TIMEOUT_MS;
    for (;;) {
      const [row] = await queryRows<{ runs: number; due: number }>(
        db,
        sql`
        select (select count(*)::int from executions where status in ('pending', 'running')) as runs,
          (select count(*)::int from tasks where next_execution_at < now() + interval '1 hour') as due`,
      );
      if (row?.runs === 0 && row.due === 0) return [];
      if (performance.now() > deadline)
        return [`${row?.runs} executions are not completed, ${row?.due} tasks are still due`];
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

  const compareRuns = async () => {
    const errors: string[] = [];
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
    const calls = Map.groupBy(await ai.takeArrivals(), ({ prompt }) => prompt);
    const countCalls = (prompt: string) => calls.get(prompt)?.length ?? 0;
    for (const task of runs) {
      const name = task.prompt.slice(-20);
      if (task.completed !== task.runs)
        errors.push(`${task.runs - task.completed} executions of "…${name}" are not completed`);
      const [min, max] = [task.runs, task.runs + task.interruptions];
      const actual = countCalls(task.prompt);
      if (actual < min || actual > max)
        errors.push(`"…${name}" was called ${actual} times for ${min} to ${max} executions`);
    }
    const planned = new Map(runs.map(({ prompt, planned }) => [prompt, planned]));
    for (const { prompt } of scheduled) {
      const count = planned.get(prompt) ?? 0;
      if (count !== 1) errors.push(`"…${prompt.slice(-20)}" was due once and executed ${count} times`);
    }
    const total = (column: 'runs' | 'interruptions') => runs.reduce((sum, task) => sum + task[column], 0);
    return { errors, runs: total('runs'), interruptions: total('interruptions') };
  };

  const readLateness = () =>
    queryRows<{ ms: number }>(
      db,
      sql`
      select 1000 * extract(epoch from started_at - planned_for)::float8 as ms from executions
      where id > ${lastId} and planned_for is not null`,
    );

  return {
    async scheduleOver(overMs) {
      const [newest] = await queryRows<{ id: number }>(db, sql`select coalesce(max(id), 0)::int as id from executions`);
      lastId = newest?.id ?? 0;
      await ai.takeArrivals();
      const taskIds = scheduled.map(({ id }) => id);
      await setDue(db, new Date(Date.now() + 1000), { intervalMs: overMs / scheduled.length, taskIds });
    },
    async check(requests) {
      const incomplete = await waitForCompletion();
      const { errors, ...counts } = await compareRuns();
      errors.unshift(...incomplete, ...(await findLost(requests)));
      for (const { userId, period } of await findWrongCounters(db))
        errors.push(`wrong usage of user ${userId}, ${period}`);
      for (const { userId } of await findWrongTotals(db)) errors.push(`wrong upload total of user ${userId}`);
      return { errors, ...counts, latenessMs: (await readLateness()).map(({ ms }) => ms) };
    },
  };
}
