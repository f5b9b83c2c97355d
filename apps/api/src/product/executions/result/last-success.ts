import { hash } from 'node:crypto';
import { executions } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { retryWhileUnavailable } from '../../../lib/queue/retry.ts';
import type { Comparison, CompletedExecution } from '../pipeline/execution-result.ts';
import type { ClaimedExecution } from '../pipeline/select-candidates.ts';
import { type Answer, compareAnswers } from './compare/compare-answers.ts';

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

/** Recognizes an equal answer without reading it. */
export const digestText = (text: string): string => hash('sha256', text, 'base64url');

/** Whether the task's own webhook and mail get the result. The first success of a task is what later ones are compared with. */
export function isWanted({ result, notify }: Pick<CompletedExecution, 'result' | 'notify'>): boolean {
  if (!result.ok || notify === 'always' || result.outcome === 'not_done') return true;
  if (notify === 'news') return result.outcome !== 'nothing_new';
  return notify === 'change' && result.comparison?.changed === true;
}

/** How far back an earlier success is searched: a task may have failed for ever. */
const MAX_SEARCHED = 200;

/**
 * The id of the success that an execution was compared with, unless retention has deleted it; else of the success before it,
 * or null. For a statement that joins the table with others.
 */
export const earlierSuccess = sql<number | null>`coalesce(
  (select x.id from executions x where x.id = ${executions.comparedWithId} and x.task_id = ${executions.taskId}),
  (select max(s.id) filter (where s.status = 'completed') from (
    select x.id, x.status from executions x where x.task_id = ${executions.taskId} and x.id < ${executions.id}
    order by x.id desc limit ${MAX_SEARCHED}) s))`;
