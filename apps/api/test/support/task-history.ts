import { type ERROR_CODES, executions, type FATES, occurrences, tasks } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';

export interface PastRun {
  plannedFor: Date;
  fate: (typeof FATES)[number];
  /** Default: by the fate; null for a run that no longer exists. */
  status?: 'pending' | 'completed' | 'failed' | null;
  result?: string;
  error?: string;
  errorCode?: (typeof ERROR_CODES)[number];
  costUsd?: number;
  processingTimeMs?: number;
}

/** Inserts planned runs of a task, oldest first, and returns the ids of those that took place. */
export async function insertHistory(ctx: Context, taskId: number, runs: readonly PastRun[]): Promise<number[]> {
  const [task] = await ctx.db.select().from(tasks).where(eq(tasks.id, taskId));
  if (!task) throw new Error(`There is no task ${taskId}.`);
  await ctx.db
    .insert(occurrences)
    .values(runs.map(({ plannedFor, fate }) => ({ taskId, plannedFor, fate, recordedAt: plannedFor })));
  const taken = runs.filter(({ fate, status }) => status !== null && (fate === 'ran' || fate === 'late'));
  if (taken.length === 0) return [];
  const rows = await ctx.db
    .insert(executions)
    .values(taken.map((run) => toRow(task, run)))
    .returning({ id: executions.id });
  const lastExecutionAt = taken.at(-1)?.plannedFor ?? null;
  const executionCount = sql`${tasks.executionCount} + ${taken.length}`;
  await ctx.db.update(tasks).set({ executionCount, lastExecutionAt }).where(eq(tasks.id, taskId));
  return rows.map(({ id }) => id);
}

function toRow(task: typeof tasks.$inferSelect, run: PastRun): typeof executions.$inferInsert {
  const { plannedFor, fate, status = 'completed', result = 'All is well.', processingTimeMs = 1500 } = run;
  const startedAt = new Date(plannedFor.getTime() + (fate === 'late' ? 240_000 : 0));
  const hasEnded = status !== 'pending';
  return {
    taskId: task.id,
    userId: task.userId,
    status: status ?? 'completed',
    trigger: 'schedule',
    plannedFor,
    runAt: plannedFor,
    queuedAt: plannedFor,
    createdAt: plannedFor,
    ...(hasEnded && {
      startedAt,
      completedAt: new Date(startedAt.getTime() + processingTimeMs),
      processingTimeMs,
      costUsd: run.costUsd ?? 0.02,
      model: task.aiModel,
    }),
    ...(status === 'completed' && { result }),
    ...(status === 'failed' && {
      error: run.error ?? 'The provider is busy.',
      errorCode: run.errorCode ?? 'PROVIDER_ERROR',
    }),
  };
}
