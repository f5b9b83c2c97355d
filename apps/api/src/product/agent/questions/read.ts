import type { ListQuestionsQuery } from '@carillon/contract/questions';
import { executions, runQuestions } from '@carillon/db';
import { and, desc, eq, lt } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, executionNotFound } from '../../../errors.ts';
import { readCursorPage } from '../../../platform/queries/pages.ts';

const questionFields = {
  id: runQuestions.id,
  message: runQuestions.message,
  content: runQuestions.content,
  model: runQuestions.model,
  createdAt: runQuestions.createdAt,
};

/** Newest first. Throws 404. */
export async function listQuestions(ctx: Context, caller: Caller, executionId: number, query: ListQuestionsQuery) {
  const { db } = ctx;
  const isOfRun = and(eq(runQuestions.executionId, executionId), eq(runQuestions.userId, caller.id));
  const isOwn = and(eq(executions.id, executionId), eq(executions.userId, caller.id));
  const [[run], { page, pagination }] = await Promise.all([
    db.select({ id: executions.id }).from(executions).where(isOwn),
    readCursorPage(
      query,
      ({ before, limit, offset }) =>
        db
          .select(questionFields)
          .from(runQuestions)
          .where(and(isOfRun, before === null ? undefined : lt(runQuestions.id, before)))
          .orderBy(desc(runQuestions.id))
          .limit(limit)
          .offset(offset),
      () => db.$count(runQuestions, isOfRun),
    ),
  ]);
  if (!run) throw executionNotFound();
  return { questions: page, pagination };
}

/** The latest ones, newest first. */
export const findLatestQuestions = ({ db }: Context, caller: Pick<Caller, 'id'>, executionId: number, count: number) =>
  db
    .select(questionFields)
    .from(runQuestions)
    .where(and(eq(runQuestions.executionId, executionId), eq(runQuestions.userId, caller.id)))
    .orderBy(desc(runQuestions.id))
    .limit(count);

/** Throws 404. */
export async function getQuestion({ db }: Context, { id: userId }: Pick<Caller, 'id'>, id: number) {
  const [question] = await db
    .select({ taskId: runQuestions.taskId, message: runQuestions.message })
    .from(runQuestions)
    .where(and(eq(runQuestions.id, id), eq(runQuestions.userId, userId)));
  if (!question) throw new AppError('not_found', 'Question not found');
  return question;
}
