import { executions, type OutputChange, tasks } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, executionNotFound } from '../../../errors.ts';
import { diffTexts, type TextPart } from '../../../lib/differences/diff-texts.ts';
import { compareAnswers } from './compare/compare-answers.ts';
import { earlierSuccess } from './last-success.ts';

interface ExecutionDiff {
  against: number;
  changes: OutputChange[];
  text: TextPart[];
}

/**
 * Compares two executions of a task by what it watches now; without `against`, with the success that the execution was
 * compared with, or else the one before it. Throws 404, and 409 for an execution without a result.
 */
export async function diffExecution(
  ctx: Context,
  caller: Caller,
  id: number,
  against?: number,
): Promise<ExecutionDiff> {
  const [after] = await ctx.db
    .select({ ...answerFields, watch: tasks.watch, taskId: executions.taskId, earlierId: earlierSuccess })
    .from(executions)
    .innerJoin(tasks, eq(tasks.id, executions.taskId))
    .where(and(eq(executions.id, id), eq(executions.userId, caller.id)));
  if (!after) throw executionNotFound();
  const result = requireResult(after.text, id);
  const earlierId = against ?? after.earlierId;
  if (earlierId === null) throw new AppError('not_found', 'There is no earlier success to compare with');
  const [before] = await ctx.db
    .select(answerFields)
    .from(executions)
    .where(and(eq(executions.id, earlierId), eq(executions.taskId, after.taskId), eq(executions.userId, caller.id)));
  if (!before) throw new AppError('not_found', 'The task of this execution has no execution with the id `against`');
  const earlier = requireResult(before.text, earlierId);
  const changes = compareAnswers(
    { text: earlier, output: before.output },
    { text: result, output: after.output },
    after.watch,
  );
  return { against: earlierId, changes, text: diffTexts(earlier, result) };
}

const answerFields = { text: executions.result, output: executions.output };

function requireResult(text: string | null, id: number): string {
  if (text === null) throw new AppError('conflict', `The execution ${id} has no result to compare`);
  return text;
}
