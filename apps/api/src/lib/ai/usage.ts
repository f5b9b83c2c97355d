import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { Logger } from 'pino';
import { estimateTokenCount } from 'tokenx';
import { calculatePriceUsd, type TokenCounts, toDollars } from './pricing.ts';
import { type ModelReply, type Protocol, type ToolCounts, toTokenCount } from './reply.ts';
import { type AiRequest, estimateInputTokens } from './request.ts';
import { getHighestUsage, getMaxUses, MAX_TOKENS_PER_USE } from './web-tools/tool-limits.ts';

export interface AiUsage {
  model: string;
  /** The name of the provider; left out for the built-in model. */
  provider?: string;
  inputTokens: number;
  outputTokens: number;
  estimated: boolean;
  costUsd: number;
  /** Left out without any. */
  toolUses?: number;
  /** The uses that are searches. */
  searches?: number;
  /** The part of `costUsd` that is for tools; left out if it is 0 or the provider reports one sum. */
  toolCostUsd?: number;
}

/** Receives a line for each claim of a provider that is beyond what is possible. */
export type Warnings = Pick<Logger, 'warn'>;

/** The service that a call went to. */
interface PricedService {
  provider: string;
  /** As the service names it. */
  model: string;
  protocol: Protocol;
  apiUrl: string;
}

const MAX_MODEL_NAME = 200;
/** For instructions that a service adds, and for reasoning that it does not count against the limit. */
const SPARE_TOKENS = 8192;
/** More than any model takes for an image, or for the first pages of a PDF. */
const TOKENS_PER_FILE = 65_536;
const TOKENS_PER_FILE_BYTE = 2;
/** Ten times the dearest model, and a dollar for what is not priced by tokens, such as a search. */
const MAX_USD_PER_TOKEN = 0.01;
const SPARE_USD = 1;
/** Ten times the dearest tool. */
const MAX_USD_PER_USE = 0.1;
/** Results may be longer than they are asked to be, as those from PDFs are; models may use a tool more often. */
const TOOL_MARGIN = 4;
const MAX_COUNT = 2 ** 31 - 1;

/**
 * Missing counts are estimated, and those beyond what is possible are cut. The cost is the provider's own (OpenRouter,
 * LiteLLM) if it is possible, else that of the price list.
 */
export function computeUsage(
  request: AiRequest,
  reply: ModelReply,
  { provider, model: routed, protocol, apiUrl }: PricedService,
  log?: Warnings,
): AiUsage {
  const claimed = protocol.readTokenCounts(reply.usage);
  const tools = readToolUses(protocol.readToolUses(reply.usage), request, reply);
  const model = toStorableText(reply.model, MAX_MODEL_NAME) || request.model;
  const counts = limitCounts(claimed, request, reply);
  const allUses = limitUses(reply.earlierToolUses + tools.uses, request);
  const inputTokens = counts.inputTokens || estimateInput(request, allUses);
  const outputTokens = counts.outputTokens || estimateOutputTokens(reply.outputText);
  const call = { ...counts, inputTokens, outputTokens, apiUrl };
  const claimedUsd = toNumber(reply.usage.cost ?? reply.headerCost);
  const maxUsd = MAX_USD_PER_TOKEN * (inputTokens + outputTokens) + MAX_USD_PER_USE * TOOL_MARGIN * getMaxUses(request);
  const givenUsd = isPossibleCost(claimedUsd, maxUsd) ? claimedUsd : undefined;
  const wasCut = counts.inputTokens < claimed.inputTokens || counts.outputTokens < claimed.outputTokens || tools.wasCut;
  const tokensUsd = priceFirst([model, request.model, routed], call);
  const toolCostUsd = givenUsd === undefined ? tools.searches * protocol.usdPerSearch : 0;
  const usage = {
    model,
    provider,
    inputTokens,
    outputTokens,
    estimated: wasCut || counts.inputTokens === 0 || (counts.outputTokens === 0 && outputTokens > 0),
    costUsd: givenUsd ?? toDollars(tokensUsd + toolCostUsd),
    ...describeTools(tools.uses, tools.searches, toolCostUsd),
  };
  if (wasCut || givenUsd !== claimedUsd) {
    const { inputTokens: input, outputTokens: output } = claimed;
    const claim = { inputTokens: input, outputTokens: output, costUsd: claimedUsd, toolUses: tools.claimed };
    log?.warn({ apiUrl, claim, usage }, 'an AI provider claims more tokens or costs than are possible');
  }
  return usage;
}

/** For a call that was sent and not answered to the end: its input and the output so far, estimated. */
export function estimateUsage(
  request: AiRequest,
  reply: ModelReply,
  { provider, model: routed, protocol, apiUrl }: PricedService,
): AiUsage {
  const uses = limitUses(reply.toolUses.all, request);
  const searches = Math.min(reply.toolUses.searches, uses);
  const tokens = {
    inputTokens: estimateInput(request, limitUses(reply.earlierToolUses + uses, request)),
    outputTokens: estimateOutputTokens(reply.outputText),
  };
  const toolCostUsd = searches * protocol.usdPerSearch;
  const costUsd = toDollars(priceFirst([request.model, routed], { ...tokens, apiUrl }) + toolCostUsd);
  const model = toStorableText(request.model, MAX_MODEL_NAME);
  return { model, provider, ...tokens, estimated: true, costUsd, ...describeTools(uses, searches, toolCostUsd) };
}

/** The price by the first of the names that the price list has. */
const priceFirst = (names: readonly string[], call: Omit<Parameters<typeof calculatePriceUsd>[0], 'model'>): number =>
  names.map((model) => calculatePriceUsd({ model, ...call })).find((usd) => usd > 0) ?? 0;

/** The usage of two calls that answer one request, by the model of the second. */
export function addUsage(first: AiUsage | null, second: AiUsage | null): AiUsage | null {
  if (first === null || second === null) return first ?? second;
  return {
    model: second.model,
    ...(second.provider !== undefined && { provider: second.provider }),
    inputTokens: Math.min(first.inputTokens + second.inputTokens, MAX_COUNT),
    outputTokens: Math.min(first.outputTokens + second.outputTokens, MAX_COUNT),
    estimated: first.estimated || second.estimated,
    costUsd: toDollars(first.costUsd + second.costUsd),
    ...describeTools(
      (first.toolUses ?? 0) + (second.toolUses ?? 0),
      (first.searches ?? 0) + (second.searches ?? 0),
      (first.toolCostUsd ?? 0) + (second.toolCostUsd ?? 0),
    ),
  };
}

const describeTools = (toolUses: number, searches: number, toolCostUsd: number) => ({
  ...(toolUses > 0 && { toolUses }),
  ...(searches > 0 && { searches }),
  ...(toolCostUsd > 0 && { toolCostUsd: toDollars(toolCostUsd) }),
});

/** Some results are short, others are read again with each further step. */
const estimateInput = (request: AiRequest, uses: number) =>
  estimateInputTokens(request) + (uses * MAX_TOKENS_PER_USE) / 2;

const limitUses = (claimed: number, request: AiRequest) => Math.min(claimed, TOOL_MARGIN * getMaxUses(request));

type Triple = [number, number, number];

/** What the provider counts, else what was seen in the answer. Without tools nothing counts. */
function readToolUses(counts: ToolCounts, request: AiRequest, reply: ModelReply) {
  const [searches, others, all] = [counts.searches, counts.others, counts.all].map(toTokenCount) as Triple;
  const isCounted = Object.values(counts).some((count) => Number.isInteger(count) && count >= 0);
  const claimed = isCounted ? Math.max(searches + others, all) : reply.toolUses.all;
  const uses = limitUses(claimed, request);
  return {
    claimed,
    uses,
    searches: Math.min(isCounted ? searches : reply.toolUses.searches, uses),
    wasCut: uses > 0 && uses < claimed,
  };
}

const estimateOutputTokens = (text: string) => (text === '' ? 0 : estimateTokenCount(text));

/** A token is at least a byte. What arrived counts if it is more than was asked for. */
function limitCounts(claimed: TokenCounts, request: AiRequest, { outputText }: ModelReply): TokenCounts {
  const sent = SPARE_TOKENS + getMaxInputTokens(request);
  const highest = getHighestUsage({ ...request, inputTokens: sent });
  const outputLimit = SPARE_TOKENS + Math.max(2 * highest.outputTokens, Buffer.byteLength(outputText));
  const inputLimit = sent + TOOL_MARGIN * (highest.inputTokens - sent);
  const inputTokens = Math.min(claimed.inputTokens, inputLimit, MAX_COUNT);
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

const isPossibleCost = (usd: number | undefined, maxUsd: number) =>
  usd !== undefined && usd >= 0 && usd <= SPARE_USD + maxUsd;

function toNumber(given: unknown): number | undefined {
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  return typeof value === 'number' && !Number.isNaN(value) ? value : undefined;
}
