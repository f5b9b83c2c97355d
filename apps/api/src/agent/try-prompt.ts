import { estimateInputTokens } from '../ai/request.ts';
import type { AiUsage } from '../ai/usage.ts';
import type { Caller, Context } from '../context.ts';
import { withAttachments } from '../executions/pipeline/attachments.ts';
import { getAttachmentIds } from '../uploads/attachments.ts';
import { completeCall, startCall } from './calls.ts';
import { DEFAULT_MAX_TOKENS, DEFAULT_TEMPERATURE, findProviderKey, toProviderError } from './process.ts';

export interface PromptToTry {
  prompt: string;
  aiModel: string;
  maxTokens?: number;
  temperature?: number;
  attachments?: readonly string[];
}

export interface TriedPrompt extends AiUsage {
  answer: string;
  durationMs: number;
}

/**
 * Sends a prompt as a run of a task would, and stores no task. Counted like a message of agent mode. Throws 400, 401, 402,
 * 503.
 */
export async function tryPrompt(ctx: Context, caller: Caller, input: PromptToTry): Promise<TriedPrompt> {
  const { prompt, aiModel: model, maxTokens = DEFAULT_MAX_TOKENS, temperature = DEFAULT_TEMPERATURE } = input;
  const signal = ctx.worker.stopping;
  const [apiKey, attachmentIds] = await Promise.all([
    findProviderKey(ctx, caller),
    getAttachmentIds(ctx, caller, input.attachments ?? []),
  ]);
  const outcome = await withAttachments(ctx, { userId: caller.id, attachmentIds }, signal, async (attachments) => {
    const request = { model, prompt, maxTokens, temperature, apiKey, attachments, signal };
    const call = await startCall(ctx, caller, { model, inputTokens: estimateInputTokens(request), maxTokens });
    const asked = await ctx.ai.ask(request);
    ctx.metrics.agentCallEnded(asked);
    await completeCall(ctx, call, asked.usage);
    return asked;
  });
  if (!outcome.ok) throw toProviderError(ctx, caller, outcome);
  const { text, usage, durationMs } = outcome;
  const unknown = { model, inputTokens: 0, outputTokens: 0, estimated: true, costUsd: 0 };
  return { ...unknown, ...usage, answer: text, durationMs };
}
