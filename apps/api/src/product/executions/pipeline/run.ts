import { toInstant } from '@carillon/db';
import type { Context } from '../../../context.ts';
import type { AiAttachment } from '../../../lib/ai/request.ts';
import { decryptProviderKey, UNREADABLE_KEY_MESSAGE } from '../../../lib/crypto/encryption.ts';
import type { Span } from '../../../lib/telemetry/tracing.ts';
import { askForOutput, type OutputOutcome } from '../result/ask-for-output.ts';
import { compareWithLastSuccess } from '../result/last-success.ts';
import { type AttachmentLimits, withAttachments } from './attachments.ts';
import type { ClaimedExecution } from './claims/select-runnable.ts';
import { type ExecutionResult, permanentFailure } from './execution-result.ts';

/** Calls the model, without a transaction or connection. */
export async function runExecution(
  ctx: Context,
  execution: ClaimedExecution,
  signal: AbortSignal,
  limits?: AttachmentLimits,
): Promise<ExecutionResult> {
  const { id, claimToken, userId, request, maxTokens, temperature, outputSchema, tools, maxToolUses } = execution;
  const timeoutMs = execution.timeoutMs ?? ctx.config.ai.timeoutMs;
  let apiKey: string | null;
  try {
    apiKey = decryptProviderKey(ctx, userId, execution.providerKeyEncrypted);
  } catch (error) {
    ctx.log.error({ err: error, userId }, "a user's own AI key cannot be decrypted");
    const failure = permanentFailure('AUTHENTICATION_FAILED', UNREADABLE_KEY_MESSAGE);
    return { id, claimToken, usage: null, durationMs: 0, ...failure };
  }
  const ask = (attachments: readonly AiAttachment[]): Promise<OutputOutcome> =>
    askForOutput(
      ctx.ai,
      {
        model: request.model,
        ...(request.system !== null && { system: request.system }),
        prompt: request.prompt,
        maxTokens,
        temperature,
        apiKey,
        attachments,
        ...(tools.length > 0 && { tools, maxToolUses }),
        timeoutMs,
        signal,
      },
      outputSchema,
    );
  const outcome = await withAttachments(ctx, execution, signal, ask, limits);
  if (!outcome.ok) return { id, claimToken, ...outcome };
  const comparison = await compareWithLastSuccess(ctx, execution, outcome, signal);
  return { id, claimToken, ...outcome, comparison };
}

/** Runs `work` in a new trace, linked to the request or tick that queued the execution. */
export function traceExecution<T>(
  ctx: Context,
  { id, taskId, attempt, trigger, runAt }: ClaimedExecution,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const dueAt = toInstant(runAt);
  const key = `execution ${id}`;
  const attributes = {
    'carillon.execution.id': id,
    'carillon.task.id': taskId,
    'carillon.attempt': attempt,
    'carillon.trigger': trigger,
    'carillon.due_at': dueAt.toISOString(),
    'carillon.lateness_ms': ctx.now().getTime() - dueAt.getTime(),
  };
  const traced = (span: Span) => {
    // Deliveries of the execution link to this span.
    ctx.trace.mark(key);
    return work(span);
  };
  return ctx.trace.span('run execution', attributes, traced, { causedBy: key });
}
