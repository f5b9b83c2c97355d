import type { AskInput, AskResult } from '@carillon/contract/questions';
import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import { executions, runQuestions, tasks } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, executionNotFound } from '../../../errors.ts';
import { getSettings } from '../../../platform/settings.ts';
import { completeCall } from '../calls.ts';
import { type AnswerOptions, answerMessage, buildAnswer, findProviderKey } from '../process.ts';
import { instructAboutRun, MAX_EARLIER } from './instructions.ts';
import { findLatestQuestions } from './read.ts';

export type RunAnswer = Omit<AskResult, 'success'>;

interface AskOptions extends AnswerOptions {
  /** Runs in the transaction that records the usage of an answer. */
  store?: (tx: Context, answer: RunAnswer) => Promise<void>;
}

/**
 * Answers a question about the result of a run, and stores both, unless the run is deleted in between. Counted as a message of
 * agent mode. Throws 401, 402, 404, 409, 503.
 */
export async function askAboutRun(
  ctx: Context,
  caller: Caller,
  executionId: number,
  { message }: AskInput,
  { store, ...options }: AskOptions,
): Promise<RunAnswer> {
  const [[run], earlier, { defaultModel }, apiKey] = await Promise.all([
    ctx.db
      .select({
        taskId: executions.taskId,
        request: executions.request,
        prompt: tasks.prompt,
        result: executions.result,
        sources: executions.sources,
        citations: executions.citations,
        completedAt: executions.completedAt,
      })
      .from(executions)
      .innerJoin(tasks, eq(tasks.id, executions.taskId))
      .where(and(eq(executions.id, executionId), eq(executions.userId, caller.id))),
    findLatestQuestions(ctx, caller, executionId, MAX_EARLIER),
    getSettings(ctx),
    findProviderKey(ctx, caller),
  ]);
  if (!run) throw executionNotFound();
  const { result, request } = run;
  if (result === null) throw new AppError('conflict', 'This execution has no result to ask about.');
  const { taskId } = run;
  const about = {
    ...run,
    result,
    prompt: request?.prompt ?? run.prompt,
    earlier: earlier.toReversed(),
    now: ctx.now(),
    timezone: caller.timezone ?? 'UTC',
  };
  const given = {
    model: defaultModel,
    apiKey,
    message,
    instruct: (marker: string) => instructAboutRun(about, marker),
  };
  const { call, outcome, parsed, end } = await answerMessage(ctx, caller, given, options);
  const answer = buildAnswer(outcome, parsed, null, defaultModel);
  const { content, model } = answer.response;
  const question = {
    executionId,
    taskId,
    userId: caller.id,
    message,
    content: toStorableText(content, MAX_CONTENT),
    model,
  };
  await completeCall(
    ctx,
    call,
    outcome.usage,
    async (tx) => {
      await insertQuestion(tx, question);
      await store?.(tx, answer);
    },
    ({ db }) => db.select({ id: tasks.id }).from(tasks).where(eq(tasks.id, taskId)).for('key share'),
  );
  end(content);
  return answer;
}

const MAX_CONTENT = 100_000;

type Question = Omit<typeof runQuestions.$inferInsert, 'createdAt'>;

/** Stores nothing if the run is gone. */
async function insertQuestion({ db, now }: Context, question: Question): Promise<void> {
  const { executionId, userId } = question;
  const [run] = await db
    .select({ id: executions.id })
    .from(executions)
    .where(and(eq(executions.id, executionId), eq(executions.userId, userId)));
  if (run) await db.insert(runQuestions).values({ ...question, createdAt: now() });
}
