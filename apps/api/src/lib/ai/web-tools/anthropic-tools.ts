import { type JsonObject, toObject } from '../../egress/exchange.ts';
import type { ModelReply } from '../reply.ts';
import type { AiRequest } from '../request.ts';
import { MAX_TOKENS_PER_USE } from './tool-limits.ts';
import type { Turn } from './turn.ts';

/** The versions that every model of the API has, without code execution. */
const TYPES = { web_search: 'web_search_20250305', web_fetch: 'web_fetch_20250910' };
const OPTIONS = {
  web_search: {},
  web_fetch: { citations: { enabled: true }, max_content_tokens: MAX_TOKENS_PER_USE },
};

/** The tools of a request. The API takes no limit of zero: a tool that is used up is offered once more beside another. */
export function buildAnthropicTools(request: AiRequest, turn: Turn | null) {
  const { tools = [] } = request;
  if (tools.length === 0 || turn === null) return {};
  const remaining = turn.getRemainingUses(request);
  const isUsedUp = tools.every((name) => remaining[name] <= 0);
  return {
    tools: tools.map((name) => ({
      type: TYPES[name],
      name,
      max_uses: Math.max(1, remaining[name]),
      ...OPTIONS[name],
    })),
    ...(isUsedUp ? { tool_choice: { type: 'none' } } : {}),
  };
}

/** Reads a block that is neither text nor reasoning. Errors of tools are for the model, whose answer stands. */
export function readToolBlock(block: JsonObject, reply: ModelReply): void {
  const type = String(block.type);
  if (type === 'server_tool_use') {
    reply.toolUses.all += 1;
    if (block.name === 'web_search') reply.toolUses.searches += 1;
  }
  if (type.endsWith('_tool_result')) reply.startSection();
  if (type !== 'web_fetch_tool_result') return;
  const { type: kind, url, content } = toObject(block.content);
  if (kind === 'web_fetch_result') reply.sources.addPage(url, toObject(content).title);
}

/** Search results are cited by their address, fetched pages by their title and place among all documents. */
export function readCitation({ url, title, document_title, document_index }: JsonObject, reply: ModelReply): void {
  if (url !== undefined) reply.sources.cite(url, title);
  else if (document_index !== undefined) reply.sources.citePage(document_index, document_title);
}

export function readAnthropicToolUses(usage: JsonObject) {
  const { web_search_requests, web_fetch_requests } = toObject(usage.server_tool_use);
  return { searches: web_search_requests, others: web_fetch_requests };
}
