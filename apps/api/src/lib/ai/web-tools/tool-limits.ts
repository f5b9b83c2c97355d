import type { AiRequest, WebTool } from '../request.ts';

/** Anthropic's price of a search: https://platform.claude.com/docs/en/about-claude/pricing. Its fetches are free. */
export const ANTHROPIC_USD_PER_SEARCH = 0.01;
/** That of the engine `exa`: https://openrouter.ai/docs/guides/features/server-tools/web-search. The fetches are free. */
export const OPENROUTER_USD_PER_SEARCH = 0.007;
/** Fetched pages are cut there. The results of a search are shorter. */
export const MAX_TOKENS_PER_USE = 20_000;
export const DEFAULT_MAX_USES = 5;

type ToolSettings = Pick<AiRequest, 'tools' | 'maxToolUses' | 'maxTokens'>;

interface HighestUsage {
  toolUses: number;
  inputTokens: number;
  outputTokens: number;
  /** For the tools alone, in US dollars; tokens are priced by the model. */
  toolCostUsd: number;
}

/** How often a call may use its tools: at least each once, since providers take no limit of zero. */
export const getMaxUses = ({ tools = [], maxToolUses = DEFAULT_MAX_USES }: Omit<ToolSettings, 'maxTokens'>): number =>
  tools.length === 0 ? 0 : Math.max(maxToolUses, tools.length);

/** Anthropic limits each tool by itself: together they get what both may have, and a search more if it is odd. */
export function splitUses(settings: Omit<ToolSettings, 'maxTokens'>): Record<WebTool, number> {
  const all = getMaxUses(settings);
  const has = (tool: WebTool) => settings.tools?.includes(tool) === true;
  const fetches = has('web_search') ? Math.floor(all / 2) : all;
  return { web_search: has('web_fetch') ? all - fetches : all, web_fetch: fetches };
}

/**
 * What one call uses at most, with or without tools; `inputTokens` is what is sent at most. The model is run once before
 * each use of a tool and once after the last, each time with all results and texts so far as its input: with 5 uses, six
 * times what is sent, and 15 results. A budget prices `inputTokens` and `outputTokens` by the model and adds `toolCostUsd`;
 * a repair of the output is a second call, without tools. `computeUsage` believes claims up to these numbers and more.
 */
export function getHighestUsage(settings: ToolSettings & { inputTokens: number }): HighestUsage {
  const { inputTokens, maxTokens } = settings;
  const uses = getMaxUses(settings);
  const repeated = (uses * (uses + 1)) / 2;
  return {
    toolUses: uses,
    inputTokens: (uses + 1) * inputTokens + repeated * (MAX_TOKENS_PER_USE + maxTokens),
    outputTokens: (uses + 1) * maxTokens,
    toolCostUsd: uses * Math.max(ANTHROPIC_USD_PER_SEARCH, OPENROUTER_USD_PER_SEARCH),
  };
}
