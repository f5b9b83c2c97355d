import { executions } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { retryWhileUnavailable } from '../../../lib/queue/retry.ts';
import type { ClaimedExecution } from '../pipeline/claims/select-runnable.ts';
import type { Comparison } from '../pipeline/execution-result.ts';
import { type Answer, compareAnswers } from './compare/compare-answers.ts';
import { digestText } from './digest.ts';

const MAX_WAIT_MS = 2000;

type Compared = Pick<ClaimedExecution, 'id' | 'taskId' | 'userId' | 'watch' | 'lastSuccessId' | 'lastSuccessDigest'>;

/**
 * Compares an answer with that of the last success at the claim: only one run of a task runs at a time. Null without one,
 * and if retention has deleted it. Waits for a database that is unavailable, as storing the answer does.
 */
export async function compareWithLastSuccess(
  ctx: Context,
  execution: Compared,
  answer: Answer,
  signal: AbortSignal,
): Promise<Comparison | null> {
  const { id, lastSuccessId, lastSuccessDigest, watch } = execution;
  if (lastSuccessId === null) return null;
  if (digestText(answer.text) === lastSuccessDigest) return { againstId: lastSuccessId, changed: false, changes: [] };
  try {
    const before = await retryWhileUnavailable(() => readAnswer(ctx, execution, answer.output !== null), {
      maxWaitMs: MAX_WAIT_MS,
      signal,
      onRetry: (error) => ctx.log.error({ err: error, executionId: id }, 'reading the last success failed'),
    });
    if (before === null) return null;
    const changes = compareAnswers(before, answer, watch);
    return { againstId: lastSuccessId, changed: changes.length > 0, changes };
  } catch (error) {
    // A paid answer is worth more than its comparison.
    ctx.log.error({ err: error, executionId: id }, 'comparing with the last success failed');
    return null;
  }
}

async function readAnswer(
  { db }: Context,
  { lastSuccessId, taskId, userId }: Compared,
  hasOutput: boolean,
): Promise<Answer | null> {
  const [found] = await db
    .select({ text: executions.result, output: hasOutput ? executions.output : sql<null>`null` })
    .from(executions)
    .where(
      and(eq(executions.id, lastSuccessId as number), eq(executions.taskId, taskId), eq(executions.userId, userId)),
    );
  return found?.text == null ? null : { text: found.text, output: found.output };
}
