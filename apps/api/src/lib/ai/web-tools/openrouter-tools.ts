import { type JsonObject, toArray, toObject } from '../../egress/json.ts';
import type { ModelReply } from '../reply.ts';
import type { AiRequest } from '../request.ts';
import { DEFAULT_MAX_USES, MAX_TOKENS_PER_USE } from './tool-limits.ts';

const MAX_RESULTS = 5;
/** Of each result. */
const MAX_CHARACTERS = 4000;

/** `max_tool_calls` is for both tools together. These engines keep to all limits; those of most providers to none. */
export function buildOpenRouterTools({ tools = [], maxToolUses = DEFAULT_MAX_USES }: AiRequest) {
  if (tools.length === 0) return {};
  const parameters = {
    web_search: {
      engine: 'exa',
      max_uses: maxToolUses,
      max_results: MAX_RESULTS,
      max_total_results: MAX_RESULTS * maxToolUses,
      max_characters: MAX_CHARACTERS,
    },
    web_fetch: { engine: 'openrouter', max_uses: maxToolUses, max_content_tokens: MAX_TOKENS_PER_USE },
  };
  return {
    tools: tools.map((name) => ({ type: `openrouter:${name}`, parameters: parameters[name] })),
    max_tool_calls: maxToolUses,
  };
}

export function readAnnotations(annotations: unknown, reply: ModelReply): void {
  for (const annotation of toArray(annotations).map(toObject)) {
    const { url, title } = toObject(annotation.url_citation);
    if (annotation.type === 'url_citation') reply.sources.cite(url, title);
  }
}

/** A search is also one of the calls, or is counted alone if the model's provider made it. */
export function readOpenRouterToolUses(usage: JsonObject) {
  const counts = toObject(usage.server_tool_use_details ?? usage.server_tool_use);
  const { web_search_requests: searches, tool_calls_executed, tool_calls_requested } = counts;
  return { searches, all: tool_calls_executed ?? tool_calls_requested };
}
