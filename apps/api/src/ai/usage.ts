import { toStorableText } from '@carillon/db/storable-text';
import { estimateTokenCount } from 'tokenx';
import type { AiRequest, AiUsage } from './client.ts';
import { estimateInputTokens } from './message.ts';
import { priceUsd } from './prices.ts';
import type { Counts, Heard } from './reply.ts';

const MAX_MODEL_NAME = 200;
/** A figure above this is no cost; added up, absurd figures would leave the range of a number. */
const MAX_COST_USD = 1e6;

/**
 * Tokens as the provider counted them, each missing count estimated; the cost in US dollars by the provider's own
 * figure (OpenRouter's `usage.cost`, LiteLLM's header), else by the price list (decisions §7).
 */
export function usageOf(request: AiRequest, heard: Heard, counts: Counts, apiUrl: string): AiUsage {
  const model = toStorableText(heard.model, MAX_MODEL_NAME) || request.model;
  const inputTokens = counts.inputTokens || estimateInputTokens(request);
  const outputTokens = counts.outputTokens || estimateOutputTokens(heard.written);
  const priced = { ...counts, inputTokens, outputTokens, apiUrl };
  const figure = dollars(heard.usage.cost ?? heard.headerCost);
  return {
    model,
    inputTokens,
    outputTokens,
    estimated: counts.inputTokens === 0 || (counts.outputTokens === 0 && outputTokens > 0),
    costUsd: figure ?? (priceUsd({ model, ...priced }) || priceUsd({ model: request.model, ...priced })),
  };
}

/** What a call may have cost that was sent and not answered to the end: its input and what was `written`, estimated. */
export function estimatedUsage(request: AiRequest, apiUrl: string, written: string): AiUsage {
  const tokens = { inputTokens: estimateInputTokens(request), outputTokens: estimateOutputTokens(written) };
  const costUsd = priceUsd({ model: request.model, ...tokens, apiUrl });
  return { model: toStorableText(request.model, MAX_MODEL_NAME), ...tokens, estimated: true, costUsd };
}

const estimateOutputTokens = (written: string) => (written === '' ? 0 : estimateTokenCount(written));

function dollars(figure: unknown): number | undefined {
  const value = typeof figure === 'string' && figure.trim() !== '' ? Number(figure) : figure;
  return typeof value === 'number' && value >= 0 && value <= MAX_COST_USD ? value : undefined;
}
