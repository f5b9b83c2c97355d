import { executions } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';
import { START } from './context.ts';
import { insertTask, readLedger } from './task-rows.ts';

const MINUTE_MS = 60_000;
export const minutes = (count: number) => new Date(START.getTime() + count * MINUTE_MS);

/** Inserts a task that runs each minute from `START` on if the page at `url` has changed. */
export const insertWatch = (ctx: Context, userId: number, url: string, values: object = {}): Promise<number> =>
  insertTask(ctx, userId, {
    recurrencePattern: '* * * * *',
    nextExecutionAt: START,
    scheduledFor: START,
    context: { clock: false, previousResult: false },
    runIf: 'changed',
    sources: [{ name: 'page', url }],
    ...values,
  });

/** Oldest first. */
export const readSourceRuns = (ctx: Context, taskId: number) =>
  ctx.db.select().from(executions).where(eq(executions.taskId, taskId)).orderBy(asc(executions.id));

/** The fates of the planned runs, oldest first. */
export const readFates = async (ctx: Context, taskId: number) =>
  (await readLedger(ctx, taskId)).map(([, fate]) => fate);
