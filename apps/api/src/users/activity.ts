import { auditLog, executions, tasks } from '@carillon/db';
import { desc, eq } from 'drizzle-orm';
import type { Context } from '../context.ts';

const SHOWN = 20;

interface Activity {
  type: string;
  timestamp: Date;
  details: Record<string, unknown>;
}

/**
 * The last 20 of what happened to an account: sign-ins, coupons and changes by admins out of the audit log, the tasks
 * that were created, and the runs with how they stand (decisions §9).
 */
export async function findActivity(ctx: Context, userId: number): Promise<Activity[]> {
  const { db } = ctx;
  const [entries, created, runs] = await Promise.all([
    db.select().from(auditLog).where(eq(auditLog.userId, userId)).orderBy(desc(auditLog.id)).limit(SHOWN),
    db
      .select({ taskId: tasks.id, name: tasks.name, createdAt: tasks.createdAt })
      .from(tasks)
      .where(eq(tasks.userId, userId))
      .orderBy(desc(tasks.id))
      .limit(SHOWN),
    db
      .select({
        executionId: executions.id,
        taskId: executions.taskId,
        taskName: tasks.name,
        status: executions.status,
        trigger: executions.trigger,
        errorCode: executions.errorCode,
        createdAt: executions.createdAt,
        startedAt: executions.startedAt,
        completedAt: executions.completedAt,
      })
      .from(executions)
      .innerJoin(tasks, eq(tasks.id, executions.taskId))
      .where(eq(executions.userId, userId))
      .orderBy(desc(executions.id))
      .limit(SHOWN),
  ]);
  const all: Activity[] = [
    ...entries.map(({ kind, at, details, actorId, address }) => ({
      type: kind,
      timestamp: at,
      details: { ...details, actorId, address },
    })),
    ...created.map(({ createdAt, ...details }) => ({ type: 'task.created', timestamp: createdAt, details })),
    ...runs.map(({ status, createdAt, startedAt, completedAt, ...details }) => ({
      type: `execution.${status}`,
      timestamp: completedAt ?? startedAt ?? createdAt,
      details,
    })),
  ];
  return all.toSorted((a, b) => b.timestamp.getTime() - a.timestamp.getTime()).slice(0, SHOWN);
}
