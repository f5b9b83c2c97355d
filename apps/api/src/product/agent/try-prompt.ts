import type { OutputSchema } from '@carillon/db';
import type { Caller, Context } from '../../context.ts';
import { type AiAttachment, type Citation, estimateInputTokens, type WebTool } from '../../lib/ai/request.ts';
import type { AiUsage } from '../../lib/ai/usage.ts';
import { DEFAULT_MAX_USES } from '../../lib/ai/web-tools/tool-limits.ts';
import { withAttachments } from '../executions/pipeline/attachments.ts';
import { checkTools, checkToolUses } from '../executions/request/check-tools.ts';
import { askForOutput, type OutputOutcome } from '../executions/result/ask-for-output.ts';
import { checkOutputSchema } from '../executions/result/check-schema.ts';
import { getAttachmentIds } from '../uploads/attachments.ts';
import { completeCall, startCall } from './calls.ts';
import { DEFAULT_MAX_TOKENS, DEFAULT_TEMPERATURE, findProviderKey, toProviderError } from './process.ts';

interface PromptToTry {
  prompt: string;
  aiModel: string;
  maxTokens?: number;
  temperature?: number;
  attachments?: readonly string[];
  outputSchema?: OutputSchema | null;
  tools?: readonly WebTool[];
  maxToolUses?: number;
  system?: string | null;
}

interface TriedPrompt extends Required<Omit<AiUsage, 'provider' | 'searches'>> {
  answer: string;
  citations: Citation[];
  durationMs: number;
  /** Null without a schema, or if the answer does not match it. */
  output: unknown;
  /** Why the answer does not match the schema. */
  problems: string[];
}

/**
 * Sends a prompt as a run of a task would, and stores no task. Counted like a message of agent mode. Throws 400, 401, 402,
 * 503.
 */
export async function tryPrompt(
  ctx: Context,
  caller: Caller,
  input: PromptToTry,
  onText?: (text: string) => void,
): Promise<TriedPrompt> {
  const { prompt, system, aiModel: model, maxTokens = DEFAULT_MAX_TOKENS, temperature = DEFAULT_TEMPERATURE } = input;
  const { tools = [], maxToolUses = DEFAULT_MAX_USES } = input;
  await checkTools(ctx, { aiModel: model, tools });
  checkToolUses({ tools, maxToolUses });
  const schema = input.outputSchema ? checkOutputSchema(input.outputSchema) : null;
  const signal = ctx.worker.stopping;
  const { timeoutMs } = ctx.config.ai;
  const [apiKey, attachmentIds] = await Promise.all([
    findProviderKey(ctx, caller),
    getAttachmentIds(ctx, caller, input.attachments ?? []),
  ]);
  const ask = async (attachments: readonly AiAttachment[]) => {
    const settings = { model, prompt, maxTokens, temperature, apiKey, attachments };
    const options = { ...(system && { system }), ...(tools.length > 0 && { tools, maxToolUses }) };
    // Half an object says nothing to a person.
    const request = { ...settings, ...options, timeoutMs, signal, ...(onText && schema === null && { onText }) };
    const call = await startCall(ctx, caller, { model, inputTokens: estimateInputTokens(request), maxTokens });
    const asked = await askForOutput(ctx.ai, request, schema);
    ctx.metrics.agentCallEnded(asked);
    await completeCall(ctx, call, asked.usage);
    return asked;
  };
  const files = { userId: caller.id, attachmentIds };
  const outcome: OutputOutcome = await withAttachments(ctx, files, signal, ask);
  if (!outcome.ok && !outcome.rejected) throw toProviderError(ctx, caller, outcome);
  const { durationMs } = outcome;
  const { provider: _provider, searches: _searches, ...usage } = outcome.usage ?? {};
  const unknown = { model, inputTokens: 0, outputTokens: 0, estimated: true, costUsd: 0, toolUses: 0, toolCostUsd: 0 };
  const answered = outcome.ok
    ? { answer: outcome.text, output: outcome.output, problems: [] }
    : { output: null, answer: '', problems: [], ...outcome.rejected };
  const { answer, output, problems } = answered;
  const citations = (outcome.ok && outcome.citations) || [];
  return { ...unknown, ...usage, answer, citations, output, problems, durationMs };
}
