import { toStorableText } from '@carillon/db/storable-text';
import { estimateTokenCount } from 'tokenx';
import { calculatePriceUsd, type TokenCounts } from './pricing.ts';
import type { ModelReply } from './reply.ts';
import { type AiRequest, estimateInputTokens } from './request.ts';

export interface AiUsage {
  model: string;
  inputTokens: number;
  outputTokens: number;
  estimated: boolean;
  costUsd: number;
}

const MAX_MODEL_NAME = 200;
/** A higher figure is not a cost; sums of absurd figures would leave the range of a number. */
const MAX_COST_USD = 1e6;

/** Missing counts are estimated. The cost is the provider's own (OpenRouter, LiteLLM), else that of the price list. */
export function computeUsage(request: AiRequest, reply: ModelReply, counts: TokenCounts, apiUrl: string): AiUsage {
  const model = toStorableText(reply.model, MAX_MODEL_NAME) || request.model;
  const inputTokens = counts.inputTokens || estimateInputTokens(request);
  const outputTokens = counts.outputTokens || estimateOutputTokens(reply.outputText);
  const call = { ...counts, inputTokens, outputTokens, apiUrl };
  const given = toCostUsd(reply.usage.cost ?? reply.headerCost);
  return {
    model,
    inputTokens,
    outputTokens,
    estimated: counts.inputTokens === 0 || (counts.outputTokens === 0 && outputTokens > 0),
    costUsd: given ?? (calculatePriceUsd({ model, ...call }) || calculatePriceUsd({ model: request.model, ...call })),
  };
}

/** For a call that was sent and not answered to the end: its input and the output so far, estimated. */
export function estimateUsage(request: AiRequest, apiUrl: string, outputText: string): AiUsage {
  const tokens = { inputTokens: estimateInputTokens(request), outputTokens: estimateOutputTokens(outputText) };
  const costUsd = calculatePriceUsd({ model: request.model, ...tokens, apiUrl });
  return { model: toStorableText(request.model, MAX_MODEL_NAME), ...tokens, estimated: true, costUsd };
}

const estimateOutputTokens = (text: string) => (text === '' ? 0 : estimateTokenCount(text));

function toCostUsd(given: unknown): number | undefined {
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  return typeof value === 'number' && value >= 0 && value <= MAX_COST_USD ? value : undefined;
}
