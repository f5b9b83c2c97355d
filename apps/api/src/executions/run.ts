import type { AiAttachment } from '../ai/request.ts';
import type { Context } from '../context.ts';
import { decryptProviderKey, UNREADABLE_KEY_MESSAGE } from '../crypto/provider-key.ts';
import { type AttachmentLimits, withAttachments } from './attachments.ts';
import type { ClaimedExecution } from './select-runnable.ts';
import type { End, Outcome } from './settle.ts';

/** How a run of this process ended. */
export type RunEnd = End & { claimToken: string };

const UNREADABLE_KEY: Outcome = {
  ok: false,
  errorCode: 'AUTHENTICATION_FAILED',
  message: UNREADABLE_KEY_MESSAGE,
  retryable: false,
  retryAfterMs: null,
};

/**
 * Asks the AI for a claimed execution, whose start has been written, and says how it ended. Holds neither a
 * transaction nor a connection meanwhile. Never throws: failure of the outside world is a value (decisions §7).
 * `limits` are those of the process unless told.
 */
export async function runExecution(
  ctx: Context,
  run: ClaimedExecution,
  signal: AbortSignal,
  limits?: AttachmentLimits,
): Promise<RunEnd> {
  const end = { id: run.id, claimToken: run.claimToken };
  let apiKey: string | null;
  try {
    apiKey = decryptProviderKey(ctx, run.userId, run.providerKeySealed);
  } catch (error) {
    ctx.log.error({ err: error, userId: run.userId }, "a user's own AI key cannot be opened");
    return { ...end, durationMs: 0, usage: null, outcome: UNREADABLE_KEY };
  }
  const { aiModel: model, prompt, maxTokens, temperature } = run;
  const ask = (attachments: readonly AiAttachment[]) =>
    ctx.ai.ask({ model, prompt, maxTokens, temperature, apiKey, attachments, signal });
  const { durationMs, usage, ...outcome } = await withAttachments(ctx, run, signal, ask, limits);
  return { ...end, durationMs, usage, outcome };
}
