import { setTimeout as delay } from 'node:timers/promises';
import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { ModelAttempt } from '@carillon/db';
import type { Context } from '../../../context.ts';
import type { ErrorCode } from '../../../lib/ai/errors.ts';
import { findModel } from '../../../lib/ai/providers.ts';
import type { AiAttachment } from '../../../lib/ai/request.ts';
import type { AiUsage } from '../../../lib/ai/usage.ts';
import { decryptProviderKey, UNREADABLE_KEY_MESSAGE } from '../../../lib/crypto/encryption.ts';
import { quotaExceededError } from '../../../platform/limits/quotas.ts';
import { askForOutput, type OutputOutcome } from '../result/ask-for-output.ts';
import { permanentFailure } from './execution-result.ts';
import { occupyProvider } from './provider-limits.ts';
import { recordCall } from './record-call.ts';
import type { ClaimedExecution } from './select-candidates.ts';

/** A rate limit that ends this soon is waited for, once. */
const MAX_RATE_LIMIT_WAIT_MS = 10_000;

/** Of the provider or the model, so that another model may answer. */
const FALLS_BACK: ReadonlySet<ErrorCode> = new Set([
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_ERROR',
  'TIMEOUT',
  'RATE_LIMIT_EXCEEDED',
  'AUTHENTICATION_FAILED',
  'QUOTA_EXCEEDED',
  'UNKNOWN_MODEL',
]);

export type ModelsOutcome = OutputOutcome & {
  /** In order; the one that answered is the last. */
  attempts: ModelAttempt[];
  /** The model that answered, as the task names it. */
  model: string;
  /** Of calls that are in the ledger already; `usage` is that of the last call, which is not. */
  recordedUsd: number;
  isOverBudget?: boolean;
};

/**
 * Asks the models of a task in their order until one answers, each with its own time limit. Before the next model is asked,
 * the call that failed is stored, so that no cost is lost if the process dies then. If all fail, a failure that a retry can
 * fix is reported first.
 */
export async function askModels(
  ctx: Context,
  execution: ClaimedExecution,
  attachments: readonly AiAttachment[],
  signal: AbortSignal,
): Promise<ModelsOutcome> {
  const { request, fallbackModels } = execution;
  const models = [...new Set([request.model, ...fallbackModels])];
  const attempts: ModelAttempt[] = [];
  let [recordedUsd, durationMs] = [0, 0];
  let reported: (OutputOutcome & { ok: false }) | null = null;
  const finish = (outcome: OutputOutcome, model: string, rest: { isOverBudget?: boolean } = {}): ModelsOutcome => ({
    ...outcome,
    durationMs,
    attempts,
    model,
    recordedUsd,
    ...rest,
  });

  let hasWaited = false;
  for (let at = 0; ; ) {
    const model = models[at] as string;
    const outcome =
      attempts.length > 0 && !(await occupyProvider(ctx, execution, model, signal))
        ? busy(model)
        : await askModel(ctx, execution, model, attachments, signal);
    durationMs += outcome.durationMs;
    attempts.push(toAttempt(model, outcome));
    if (outcome.ok) return finish(outcome, model);
    if (reported === null || outcome.retryable || !reported.retryable) reported = outcome;
    const isLast = at === models.length - 1;
    if (signal.aborted || isLast || !mayFallBack(outcome)) {
      return finish(mayFallBack(outcome) ? { ...reported, usage: outcome.usage } : outcome, model);
    }

    const waitMs = hasWaited ? null : findWait(outcome);
    if (waitMs === null) {
      at += 1;
      hasWaited = false;
    } else hasWaited = true;
    const next = models[at] as string;
    const call = { source: 'fallback' as const, usage: outcome.usage, attempts, next };
    const recorded = await recordCall(ctx, execution, call, signal);
    recordedUsd += outcome.usage?.costUsd ?? 0;
    if (recorded.kind === 'lost') return finish({ ...outcome, ...INTERRUPTED, usage: null }, model);
    if (recorded.kind === 'over_budget') {
      const { message } = quotaExceededError(recorded.exceeded);
      const refused = { ...permanentFailure('QUOTA_EXCEEDED', message), usage: null, durationMs };
      return finish(refused, model, { isOverBudget: true });
    }
    if (waitMs !== null) {
      await delay(waitMs, undefined, { signal }).catch(() => {});
      durationMs += waitMs;
    }
  }
}

const INTERRUPTED = { ok: false, errorCode: 'INTERRUPTED', message: 'The run was aborted.', retryable: true } as const;

const mayFallBack = ({ errorCode, isOfRequest }: OutputOutcome & { ok: false }): boolean =>
  FALLS_BACK.has(errorCode) && !isOfRequest;

const findWait = ({ errorCode, retryAfterMs }: OutputOutcome & { ok: false }): number | null =>
  errorCode === 'RATE_LIMIT_EXCEEDED' && retryAfterMs !== null && retryAfterMs <= MAX_RATE_LIMIT_WAIT_MS
    ? retryAfterMs
    : null;

const toAttempt = (model: string, outcome: OutputOutcome): ModelAttempt => ({
  model,
  errorCode: outcome.ok ? null : outcome.errorCode,
  message: outcome.ok ? null : outcome.message,
  ms: Math.round(outcome.durationMs),
});

const NO_CALL: { usage: AiUsage | null; durationMs: number } = { usage: null, durationMs: 0 };

const busy = (model: string): OutputOutcome => ({
  ...NO_CALL,
  ok: false,
  errorCode: 'RATE_LIMIT_EXCEEDED',
  message: toStorableText(`The provider of ${model} has as many calls at once as it may.`, 500),
  retryable: true,
  retryAfterMs: null,
});

/** One model of the list. Only the default provider gets the user's own key. */
async function askModel(
  ctx: Context,
  execution: ClaimedExecution,
  model: string,
  attachments: readonly AiAttachment[],
  signal: AbortSignal,
): Promise<OutputOutcome> {
  const { request, maxTokens, temperature, outputSchema, tools, maxToolUses } = execution;
  const key = await readUserKey(ctx, execution, model);
  if (key === 'unreadable') return { ...NO_CALL, ...permanentFailure('AUTHENTICATION_FAILED', UNREADABLE_KEY_MESSAGE) };
  return askForOutput(
    ctx.ai,
    {
      model,
      ...(request.system !== null && { system: request.system }),
      prompt: request.prompt,
      maxTokens,
      temperature,
      apiKey: key,
      attachments,
      ...(tools.length > 0 && { tools, maxToolUses }),
      timeoutMs: execution.timeoutMs ?? ctx.config.ai.timeoutMs,
      signal,
    },
    outputSchema,
  );
}

/** The user's own key, if the model is one of the default provider. */
export async function readUserKey(
  ctx: Context,
  { userId, providerKeyEncrypted }: Pick<ClaimedExecution, 'userId' | 'providerKeyEncrypted'>,
  model: string,
): Promise<string | null | 'unreadable'> {
  if (providerKeyEncrypted === null) return null;
  const providers = await ctx.providers.load().catch(() => null);
  if (providers && findModel(providers, model)?.isDefault === false) return null;
  try {
    return decryptProviderKey(ctx, userId, providerKeyEncrypted);
  } catch (error) {
    ctx.log.error({ err: error, userId }, "a user's own AI key cannot be decrypted");
    return 'unreadable';
  }
}
