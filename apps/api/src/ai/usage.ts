import { toStorableText } from '@carillon/db/storable-text';
import type { Logger } from 'pino';
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
  /** Left out without any. */
  toolUses?: number;
  /** The part of `costUsd` that is for tools; left out if there is none or the provider reports one sum. */
  toolCostUsd?: number;
}

/** Receives a line for each claim of a provider that is beyond what is possible. */
export type Warnings = Pick<Logger, 'warn'>;

const MAX_MODEL_NAME = 200;
/** For instructions that a service adds, and for reasoning that it does not count against the limit. */
const SPARE_TOKENS = 8192;
/** More than any model takes for an image, or for the first pages of a PDF. */
const TOKENS_PER_FILE = 65_536;
const TOKENS_PER_FILE_BYTE = 2;
/** Ten times the dearest model, and a dollar for what is not priced by tokens, such as a search. */
const MAX_USD_PER_TOKEN = 0.01;
const SPARE_USD = 1;

/**
 * Missing counts are estimated, and those beyond what is possible are cut. The cost is the provider's own (OpenRouter,
 * LiteLLM) if it is possible, else that of the price list.
 */
export function computeUsage(
  request: AiRequest,
  reply: ModelReply,
  claimed: TokenCounts,
  apiUrl: string,
  log?: Warnings,
): AiUsage {
  const model = toStorableText(reply.model, MAX_MODEL_NAME) || request.model;
  const counts = limitCounts(claimed, request, reply);
  const inputTokens = counts.inputTokens || estimateInputTokens(request);
  const outputTokens = counts.outputTokens || estimateOutputTokens(reply.outputText);
  const call = { ...counts, inputTokens, outputTokens, apiUrl };
  const claimedUsd = toNumber(reply.usage.cost ?? reply.headerCost);
  const givenUsd = isPossibleCost(claimedUsd, inputTokens + outputTokens) ? claimedUsd : undefined;
  const wasCut = counts.inputTokens < claimed.inputTokens || counts.outputTokens < claimed.outputTokens;
  const usage = {
    model,
    inputTokens,
    outputTokens,
    estimated: wasCut || counts.inputTokens === 0 || (counts.outputTokens === 0 && outputTokens > 0),
    costUsd:
      givenUsd ?? (calculatePriceUsd({ model, ...call }) || calculatePriceUsd({ model: request.model, ...call })),
  };
  if (wasCut || givenUsd !== claimedUsd) {
    const { inputTokens: input, outputTokens: output } = claimed;
    const claim = { inputTokens: input, outputTokens: output, costUsd: claimedUsd };
    log?.warn({ apiUrl, claim, usage }, 'an AI provider claims more tokens or costs than are possible');
  }
  return usage;
}

/** For a call that was sent and not answered to the end: its input and the output so far, estimated. */
export function estimateUsage(request: AiRequest, apiUrl: string, outputText: string): AiUsage {
  const tokens = { inputTokens: estimateInputTokens(request), outputTokens: estimateOutputTokens(outputText) };
  const costUsd = calculatePriceUsd({ model: request.model, ...tokens, apiUrl });
  return { model: toStorableText(request.model, MAX_MODEL_NAME), ...tokens, estimated: true, costUsd };
}

const estimateOutputTokens = (text: string) => (text === '' ? 0 : estimateTokenCount(text));

/** A token is at least a byte. What arrived counts if it is more than was asked for. */
function limitCounts(claimed: TokenCounts, request: AiRequest, { outputText }: ModelReply): TokenCounts {
  const outputLimit = SPARE_TOKENS + Math.max(2 * request.maxTokens, Buffer.byteLength(outputText));
  const inputTokens = Math.min(claimed.inputTokens, SPARE_TOKENS + getMaxInputTokens(request));
  const cacheReadTokens = Math.min(claimed.cacheReadTokens, inputTokens);
  return {
    inputTokens,
    outputTokens: Math.min(claimed.outputTokens, outputLimit),
    cacheReadTokens,
    cacheWriteTokens: Math.min(claimed.cacheWriteTokens, inputTokens - cacheReadTokens),
  };
}

function getMaxInputTokens({ system = '', prompt, attachments = [] }: AiRequest): number {
  const files = attachments.map(({ data }) => TOKENS_PER_FILE + TOKENS_PER_FILE_BYTE * data.byteLength);
  return Buffer.byteLength(system) + Buffer.byteLength(prompt) + files.reduce((sum, tokens) => sum + tokens, 0);
}

const isPossibleCost = (usd: number | undefined, tokens: number) =>
  usd !== undefined && usd >= 0 && usd <= SPARE_USD + MAX_USD_PER_TOKEN * tokens;

function toNumber(given: unknown): number | undefined {
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  return typeof value === 'number' && !Number.isNaN(value) ? value : undefined;
}
