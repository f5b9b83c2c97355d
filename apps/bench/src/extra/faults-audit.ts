import { setTimeout as delay } from 'node:timers/promises';
import { findWrongTotals } from '@carillon/api/uploads/totals';
import { findWrongCounters } from '@carillon/api/usage/verify';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { SentRequest } from '../environment/mixed-load.ts';
import type { AiServer } from '../environment/servers/ai-server.ts';
import { setDue, type Task } from '../environment/users.ts';

/** A process that was killed is noticed by its leases, after 30 s and up to 30 s more. */
const COMPLETION_TIMEOUT_MS = 120_000;

export interface Audit {
  /** Lets every scheduled task fall due once, evenly over so many milliseconds from now. */
  scheduleOver(overMs: number): Promise<void>;
  /** Waits until all has run, and looks at everything since `spread`. */
  check(sent: readonly SentRequest[]): Promise<AuditResult>;
}

export interface AuditResult {
  /** A line for each thing that was lost, done twice or counted wrong. */
  errors: string[];
  runs: number;
  /** How often a run was taken over from a process that had died over it. */
  interruptions: number;
  /** How late scheduled runs started, in milliseconds. */
  latenessMs: number[];
}

/** Holds what the database and the provider have seen against what was acknowledged. */
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
      const [open] = await queryRows<{ runs: number; due: number }>(
        db,
        sql`
        select (select count(*)::int from executions where status in ('pending', 'running')) as runs,
          (select count(*)::int from tasks where next_execution_at < now() + interval '1 hour') as due`,
      );
      if (open?.runs === 0 && open.due === 0) return [];
      if (performance.now() > deadline) return [`${open?.runs} runs have not ended, ${open?.due} tasks are still due`];
      await delay(200);
    }
  };

  const findLost = async (sent: readonly SentRequest[]) => {
    const lost: string[] = [];
    for (const [kind, table] of [
      ['create', sql`tasks`],
      ['execute', sql`executions`],
      ['upload', sql`uploads`],
    ] as const) {
      const ids = sent.flatMap((one) => (one.kind === kind && one.id !== null ? String(one.id) : []));
      const found = await queryRows<{ id: string }>(
        db,
        sql`select id::text as id from ${table} where id::text = any(${`{${ids.join(',')}}`}::text[])`,
      );
      const there = new Set(found.map(({ id }) => id));
      lost.push(...ids.filter((id) => !there.has(id)).map((id) => `lost: ${kind} ${id}`));
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
    const asked = Map.groupBy(await ai.takeArrivals(), ({ prompt }) => prompt);
    const times = (prompt: string) => asked.get(prompt)?.length ?? 0;
    for (const one of runs) {
      const name = one.prompt.slice(-20);
      if (one.completed !== one.runs) errors.push(`${one.runs - one.completed} runs of "…${name}" are not completed`);
      const [least, most] = [one.runs, one.runs + one.interruptions];
      const actual = times(one.prompt);
      if (actual < least || actual > most)
        errors.push(`"…${name}" was asked ${actual} times for ${least} to ${most} runs`);
    }
    const planned = new Map(runs.map((one) => [one.prompt, one.planned]));
    for (const { prompt } of scheduled) {
      const count = planned.get(prompt) ?? 0;
      if (count !== 1) errors.push(`"…${prompt.slice(-20)}" fell due once and ran ${count} times`);
    }
    const total = (of: 'runs' | 'interruptions') => runs.reduce((sum, one) => sum + one[of], 0);
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
      await setDue(db, new Date(Date.now() + 1000), { apartMs: overMs / scheduled.length, taskIds });
    },
    async check(sent) {
      const unended = await waitForCompletion();
      const { errors, ...counts } = await compareRuns();
      errors.unshift(...unended, ...(await findLost(sent)));
      for (const { userId, period } of await findWrongCounters(db))
        errors.push(`the usage of user ${userId}, ${period}`);
      for (const { userId } of await findWrongTotals(db)) errors.push(`the total of the uploads of user ${userId}`);
      return { errors, ...counts, latenessMs: (await readLateness()).map(({ ms }) => ms) };
    },
  };
}
