import { type JsonObject, toArray, toObject } from '../egress/exchange.ts';
import { fitsStrictMode } from './models/provider-schemas.ts';
import type { ModelQuirks } from './models/quirks.ts';
import { hasContent, type ModelReply, type Protocol, readFinishReason, toTokenCount } from './reply.ts';
import { type AiRequest, buildMessageParts, type MessagePart } from './request.ts';
import { DEFAULT_MAX_USES, MAX_TOKENS_PER_USE, OPENROUTER_USD_PER_SEARCH } from './web-tools/tool-limits.ts';

/** OpenAI's chat completions, in the variants of the many services that offer them. */
export const chatCompletions: Protocol = {
  path: '/chat/completions',
  buildHeaders: (key): Record<string, string> => (key === '' ? {} : { authorization: `Bearer ${key}` }),
  buildBody(model, request, quirks) {
    const { temperature, onText } = request;
    const maxTokens = Math.min(request.maxTokens, quirks.maxOutputTokens ?? request.maxTokens);
    return {
      model,
      ...(quirks.noTokenLimit ? {} : { [quirks.noMaxTokens ? 'max_completion_tokens' : 'max_tokens']: maxTokens }),
      ...(quirks.noTemperature ? {} : { temperature: temperature / 100 }),
      messages: buildMessages(request, quirks),
      ...buildOutputFormat(request, quirks),
      ...buildOpenRouterTools(request),
      stream: onText !== undefined,
      ...(onText && !quirks.noStreamOptions ? { stream_options: { include_usage: true } } : {}),
    };
  },
  readMessage(answer, reply) {
    const choice = toObject(toArray(answer.choices)[0]);
    if (!hasContent(choice.error) && (typeof choice.message !== 'object' || choice.message === null)) return false;
    reply.finishReason = 'stop';
    readChoice(answer, choice, choice.message, reply);
    return true;
  },
  readEvent(event, reply) {
    const choice = toObject(toArray(event.choices)[0]);
    // Some services stream a whole answer as one event.
    const isWhole = reply.outputText === '' && !choice.delta;
    readChoice(event, choice, isWhole ? choice.message : choice.delta, reply);
  },
  readTokenCounts: ({ prompt_tokens, completion_tokens, prompt_tokens_details }) => ({
    inputTokens: toTokenCount(prompt_tokens),
    outputTokens: toTokenCount(completion_tokens),
    cacheReadTokens: toTokenCount(toObject(prompt_tokens_details).cached_tokens),
    cacheWriteTokens: 0,
  }),
  readToolUses: readOpenRouterToolUses,
  usdPerSearch: OPENROUTER_USD_PER_SEARCH,
};

function buildOutputFormat({ outputSchema: schema }: AiRequest, { outputFormat }: ModelQuirks) {
  if (!schema || outputFormat === 'none') return {};
  if (outputFormat === 'object') return { response_format: { type: 'json_object' } };
  const strict = fitsStrictMode(schema) ? { strict: true } : {};
  return { response_format: { type: 'json_schema', json_schema: { name: 'output', ...strict, schema } } };
}

function buildMessages(request: AiRequest, quirks: ModelQuirks) {
  const { system } = request;
  if (system === undefined) return [{ role: 'user', content: buildContent(request) }];
  if (quirks.noSystemRole) {
    return [{ role: 'user', content: buildContent({ ...request, prompt: `${system}\n\n${request.prompt}` }) }];
  }
  return [
    { role: 'system', content: system },
    { role: 'user', content: buildContent(request) },
  ];
}

/** A prompt without attachments is sent as a string: not every service accepts parts. */
function buildContent(request: AiRequest) {
  return request.attachments?.length ? buildMessageParts(request).map(toContentPart) : request.prompt;
}

function toContentPart(part: MessagePart) {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const url = `data:${part.mediaType};base64,${part.base64}`;
  return part.kind === 'image'
    ? { type: 'image_url', image_url: { url } }
    : { type: 'file', file: { filename: part.name, file_data: url } };
}

function readChoice(answer: JsonObject, choice: JsonObject, message: unknown, reply: ModelReply): void {
  if (hasContent(choice.error)) reply.error = { error: choice.error };
  if (reply.model === '' && typeof answer.model === 'string') reply.model = answer.model;
  const { content, reasoning_content, reasoning, refusal, annotations, tool_calls } = toObject(message);
  readAnnotations(annotations, reply);
  if (toArray(tool_calls).length > 0) reply.callsTools = true;
  reply.addReasoning(reasoning_content ?? reasoning);
  if (typeof content === 'string') reply.addText(content);
  else for (const part of toArray(content)) readContentPart(toObject(part), reply);
  if (typeof refusal === 'string' && refusal !== '') {
    reply.addText(refusal);
    reply.refused = true;
  }
  const { finish_reason: reason } = choice;
  if (typeof reason === 'string' && reason !== '') {
    reply.finishReason = reply.refused ? 'content_filter' : readFinishReason(reason);
  }
  // Some services send it in every event, most in the last one only.
  if (answer.usage) reply.usage = toObject(answer.usage);
}

/** Mistral's models send their reasoning as a part of the content. */
function readContentPart(part: JsonObject, reply: ModelReply): void {
  if (part.type === 'text') reply.addText(part.text);
  else if (part.type === 'thinking') {
    for (const thought of toArray(part.thinking)) reply.addReasoning(toObject(thought).text);
  }
}

const MAX_RESULTS = 5;
/** Of each result. */
const MAX_CHARACTERS = 4000;

/** `max_tool_calls` is for both tools together. These engines keep to all limits; those of most providers to none. */
function buildOpenRouterTools({ tools = [], maxToolUses = DEFAULT_MAX_USES }: AiRequest) {
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

function readAnnotations(annotations: unknown, reply: ModelReply): void {
  for (const annotation of toArray(annotations).map(toObject)) {
    const { url, title } = toObject(annotation.url_citation);
    if (annotation.type === 'url_citation') reply.sources.cite(url, title);
  }
}

/** A search is also one of the calls, or is counted alone if the model's provider made it. */
function readOpenRouterToolUses(usage: JsonObject) {
  const counts = toObject(usage.server_tool_use_details ?? usage.server_tool_use);
  const { web_search_requests: searches, tool_calls_executed, tool_calls_requested } = counts;
  return { searches, all: tool_calls_executed ?? tool_calls_requested };
}
