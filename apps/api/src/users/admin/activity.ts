import { auditLog, executions, tasks } from '@carillon/db';
import { desc, eq } from 'drizzle-orm';
import type { Context } from '../../context.ts';

const MAX_ENTRIES = 20;

interface Activity {
  type: string;
  timestamp: Date;
  details: Record<string, unknown>;
}

/** The latest 20 of an account's audit entries, created tasks and executions, newest first. */
export async function listActivity({ db }: Context, userId: number): Promise<Activity[]> {
  const [entries, created, runs] = await Promise.all([
    db.select().from(auditLog).where(eq(auditLog.userId, userId)).orderBy(desc(auditLog.id)).limit(MAX_ENTRIES),
    db
      .select({ taskId: tasks.id, name: tasks.name, createdAt: tasks.createdAt })
      .from(tasks)
      .where(eq(tasks.userId, userId))
      .orderBy(desc(tasks.id))
      .limit(MAX_ENTRIES),
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
      .limit(MAX_ENTRIES),
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
  return all.toSorted((a, b) => b.timestamp.getTime() - a.timestamp.getTime()).slice(0, MAX_ENTRIES);
}
