import type { LanguageModelUsage } from 'ai';
import { estimateTokenCount } from 'tokenx';
import type { AiRequest, AiUsage } from './ai.ts';
import { estimateInputTokens } from './ai-message.ts';
import { priceUsd } from './prices.ts';
import { storedText } from './stored-text.ts';

const MAX_MODEL_NAME = 200;
/** What a PostgreSQL integer holds. */
const MAX_TOKENS = 2 ** 31 - 1;
/** A figure above this is no cost; added up, absurd figures would leave the range of a number. */
const MAX_COST_USD = 1e6;

/** What the provider told of an answered call. */
export interface Told {
  model: string;
  usage: LanguageModelUsage;
  /** The text, the reasoning included where it is shown. */
  written: string;
  headers: Readonly<Record<string, string>> | undefined;
}

/**
 * Tokens as the provider counted them, each missing count estimated; the cost in US dollars by the provider's own
 * figure (OpenRouter's `usage.cost`, LiteLLM's header), else by the price list (decisions §7).
 */
export function usageOf(request: AiRequest, told: Told, apiUrl: string): AiUsage {
  const input = counted(told.usage.inputTokens);
  const nothing = told.written === '' && told.usage.outputTokens === 0 ? 0 : undefined;
  const output = counted(told.usage.outputTokens) ?? nothing;
  const model = storedText(told.model, MAX_MODEL_NAME) || request.model;
  const inputTokens = input ?? estimateInputTokens(request);
  const outputTokens = output ?? estimateTokenCount(told.written);
  const { cacheReadTokens, cacheWriteTokens } = told.usage.inputTokenDetails;
  const figure = told.usage.raw?.cost ?? told.headers?.['x-litellm-response-cost'];
  const priced = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, apiUrl };
  return {
    model,
    inputTokens,
    outputTokens,
    estimated: input === undefined || output === undefined,
    costUsd: dollars(figure) ?? (priceUsd({ model, ...priced }) || priceUsd({ model: request.model, ...priced })),
  };
}

/** What a call may have cost that was sent and not answered to the end: its input and what was `written`, estimated. */
export function estimatedUsage(request: AiRequest, apiUrl: string, written = ''): AiUsage {
  const outputTokens = written === '' ? 0 : estimateTokenCount(written);
  const tokens = { inputTokens: estimateInputTokens(request), outputTokens };
  const costUsd = priceUsd({ model: request.model, ...tokens, apiUrl });
  return { model: storedText(request.model, MAX_MODEL_NAME), ...tokens, estimated: true, costUsd };
}

/** Zero counts as untold: some services fill the field in without counting. */
const counted = (tokens: number | undefined) =>
  Number.isInteger(tokens) && (tokens as number) > 0 && (tokens as number) <= MAX_TOKENS ? tokens : undefined;

function dollars(figure: unknown): number | undefined {
  const value = typeof figure === 'string' && figure.trim() !== '' ? Number(figure) : figure;
  return typeof value === 'number' && value >= 0 && value <= MAX_COST_USD ? value : undefined;
}
