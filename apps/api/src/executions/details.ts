import { executions, tasks } from '@carillon/db';
import { and, asc, eq } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { executionNotFound } from '../errors.ts';
import { executionFields, toExecution } from './read.ts';
import { logOf } from './timeline.ts';

/**
 * An execution of the caller's with its task as it is now, what it did step by step, and what it took (specification
 * "Server actions"). Of `metadata` is null what is not known: before the end of the run, and where nothing was asked.
 * Refusal: 404.
 */
export async function getExecutionDetails(ctx: Context, caller: Caller, id: number) {
  const [[found], retries] = await Promise.all([
    ctx.db
      .select({
        execution: executionFields,
        steps: {
          queuedAt: executions.queuedAt,
          runAt: executions.runAt,
          interruptedAt: executions.interruptedAt,
        },
        task: { id: tasks.id, name: tasks.name, prompt: tasks.prompt, model: tasks.aiModel },
        asked: { attachmentIds: tasks.attachments, changedAt: tasks.updatedAt },
      })
      .from(executions)
      .innerJoin(tasks, eq(tasks.id, executions.taskId))
      .where(and(eq(executions.id, id), eq(executions.userId, caller.id))),
    ctx.db
      .select({
        id: executions.id,
        trigger: executions.trigger,
        attempt: executions.attempt,
        runAt: executions.runAt,
        createdAt: executions.createdAt,
      })
      .from(executions)
      .where(and(eq(executions.retryOfId, id), eq(executions.userId, caller.id)))
      .orderBy(asc(executions.id)),
  ]);
  if (!found) throw executionNotFound();
  const { task, asked, steps } = found;
  const execution = toExecution(found.execution);
  const { model, tokens, costUsd } = execution;
  return {
    ...execution,
    task,
    logs: logOf({ ...execution, ...steps }, { model: task.model, ...asked }, retries),
    metadata: {
      model,
      tokens: tokens && { prompt: tokens.input, completion: tokens.output, total: tokens.total },
      cost: costUsd,
    },
  };
}
