import { toOneLine } from '@carillon/contract/validation/unsafe-values';
import { executions, type OUTCOMES } from '@carillon/db';
import { and, desc, eq, or, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { AiOutcome } from '../../../lib/ai/client.ts';
import type { WebTool } from '../../../lib/ai/request.ts';
import type { AiUsage } from '../../../lib/ai/usage.ts';
import { type ModelsOutcome, readUserKey } from '../pipeline/ask-models.ts';
import { recordCall } from '../pipeline/record-call.ts';
import type { ClaimedExecution } from '../pipeline/select-candidates.ts';
import { readOutput } from '../result/read-output.ts';
import { buildOutcomePrompt, OUTCOME_INSTRUCTIONS, OUTCOME_MAX_TOKENS, OUTCOME_SCHEMA } from './outcome-request.ts';

type Outcome = (typeof OUTCOMES)[number];

export interface DecidedOutcome {
  outcome: Outcome | null;
  /** One sentence; null with the outcome. */
  reason: string | null;
  /** Of the second call, if there was one: the first is in the ledger then. */
  secondCall?: { usage: AiUsage | null };
}

type Answered = ModelsOutcome & {
  ok: true;
  /** Whether no source of the run could be read. */
  areAllFailed: boolean;
};

const UNDECIDED: DecidedOutcome = { outcome: null, reason: null };
const MAX_MS = 30_000;
const MAX_REASON = 300;
const MAX_SEARCHED = 200;

/**
 * Whether an answer does what its task asks for. Rules come first; a second call decides only for tasks that notify of news.
 * If that call fails nothing is decided, so that no answer is kept back because of an error.
 */
export async function decideOutcome(
  ctx: Context,
  execution: ClaimedExecution,
  answered: Answered,
  signal: AbortSignal,
): Promise<DecidedOutcome> {
  const reason = findRule(execution, answered);
  if (reason !== null) return { outcome: 'not_done', reason };
  if (execution.notify !== 'news') return UNDECIDED;
  const { usage, attempts } = answered;
  const recorded = await recordCall(ctx, execution, { source: 'execution', usage, attempts, next: null }, signal);
  if (recorded.kind === 'lost' || signal.aborted) return UNDECIDED;
  const judged = await judge(ctx, execution, answered, signal);
  const secondCall = { usage: judged.usage };
  const decided = judged.ok ? readJudgement(judged.text) : null;
  if (!decided) {
    const cause = judged.ok ? 'its answer cannot be read' : judged.errorCode;
    ctx.log.warn({ executionId: execution.id, cause }, 'the outcome of a run could not be decided');
    return { ...UNDECIDED, secondCall };
  }
  return { ...decided, secondCall };
}

/** Why the run is not done, by what is known without a model; null if nothing says so. */
function findRule(
  { tools, requireTools, maxTokens }: Pick<ClaimedExecution, 'tools' | 'requireTools' | 'maxTokens'>,
  { isCut, usage, text, areAllFailed }: Answered,
): string | null {
  if (isCut) {
    return (usage?.outputTokens ?? 0) >= maxTokens
      ? `The answer was cut off at ${maxTokens} tokens.`
      : `The answer was cut off after ${text.length} characters.`;
  }
  if (areAllFailed) return 'None of the sources could be read.';
  const unused = requireTools ? tools.find((tool) => !isUsed(tool, usage)) : undefined;
  return unused === undefined ? null : `The model never used ${unused}, which the task requires.`;
}

const isUsed = (tool: WebTool, usage: AiUsage | null): boolean => {
  const { toolUses = 0, searches = 0 } = usage ?? {};
  return tool === 'web_search' ? searches > 0 : toolUses > searches;
};

async function judge(
  ctx: Context,
  execution: ClaimedExecution,
  answered: Answered,
  signal: AbortSignal,
): Promise<AiOutcome> {
  const { model } = answered;
  const timeoutMs = Math.min(execution.timeoutMs ?? ctx.config.ai.timeoutMs, MAX_MS);
  const [key, earlier] = await Promise.all([readUserKey(ctx, execution, model), readLastDelivered(ctx, execution)]);
  return ctx.ai.ask({
    model,
    system: OUTCOME_INSTRUCTIONS,
    prompt: buildOutcomePrompt(execution, answered, earlier),
    maxTokens: OUTCOME_MAX_TOKENS,
    temperature: 0,
    outputSchema: OUTCOME_SCHEMA,
    ...(key !== 'unreadable' && { apiKey: key }),
    timeoutMs,
    signal,
  });
}

/** The latest answer that was not held back as nothing new. */
async function readLastDelivered({ db, log }: Context, { id, taskId, userId }: ClaimedExecution) {
  const recent = db
    .select({ id: executions.id, status: executions.status, outcome: executions.outcome, result: executions.result })
    .from(executions)
    .where(and(eq(executions.taskId, taskId), eq(executions.userId, userId), sql`${executions.id} < ${id}`))
    .orderBy(desc(executions.id))
    .limit(MAX_SEARCHED)
    .as('recent');
  const isDelivered = or(sql`${recent.outcome} is null`, sql`${recent.outcome} <> 'nothing_new'`);
  const [found] = await db
    .select({ result: recent.result })
    .from(recent)
    .where(and(eq(recent.status, 'completed'), isDelivered))
    .orderBy(desc(recent.id))
    .limit(1)
    .catch((error) => {
      log.error({ err: error, executionId: id }, 'reading the last delivered answer failed');
      return [];
    });
  return found?.result ?? null;
}

function readJudgement(text: string): { outcome: Outcome; reason: string } | null {
  const read = readOutput(text, OUTCOME_SCHEMA);
  if (!read.ok) return null;
  const { outcome, reason } = read.output as { outcome: Outcome; reason: string };
  const sentence = [...toOneLine(reason).trim()].slice(0, MAX_REASON).join('');
  return { outcome, reason: sentence || 'The model gave no reason.' };
}
