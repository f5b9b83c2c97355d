import { type JsonObject, toArray, toObject } from '../egress/exchange.ts';
import { toClosedSchema } from './models/provider-schemas.ts';
import { type ModelReply, type Protocol, readFinishReason, toTokenCount } from './reply.ts';
import { buildMessageParts, type MessagePart } from './request.ts';
import {
  buildAnthropicTools,
  readAnthropicToolUses,
  readCitation,
  readToolBlock,
} from './web-tools/anthropic-tools.ts';
import { ANTHROPIC_USD_PER_SEARCH } from './web-tools/tool-limits.ts';

const VERSION = '2023-06-01';
/** Tasks allow temperatures up to 2, Claude up to 1. */
const MAX_TEMPERATURE = 1;

export const anthropicMessages: Protocol = {
  path: '/messages',
  buildHeaders: (key) => ({ 'anthropic-version': VERSION, 'x-api-key': key }),
  buildBody(model, request, quirks, turn) {
    const { system, maxTokens, temperature, onText, outputSchema } = request;
    // The API refuses citations together with a format.
    const schema = outputSchema && !quirks.outputFormat && turn === null ? toClosedSchema(outputSchema) : null;
    return {
      model,
      max_tokens: Math.min(maxTokens, quirks.maxOutputTokens ?? maxTokens),
      ...(quirks.noTemperature ? {} : { temperature: Math.min(temperature / 100, MAX_TEMPERATURE) }),
      ...(system === undefined ? {} : { system: [{ type: 'text', text: system }] }),
      messages: [
        { role: 'user', content: buildMessageParts(request).map(toContentBlock) },
        ...(turn?.content.length ? [{ role: 'assistant', content: turn.content }] : []),
      ],
      ...buildAnthropicTools(request, turn),
      ...(schema ? { output_config: { format: { type: 'json_schema', schema } } } : {}),
      stream: onText !== undefined,
    };
  },
  readMessage(answer, reply) {
    if (!Array.isArray(answer.content)) return false;
    reply.finishReason = 'stop';
    readMessageFields(answer, reply);
    readStopReason(answer.stop_reason, reply);
    return true;
  },
  readEvent(event, reply) {
    if (event.type === 'message_start') {
      reply.started = true;
      reply.finishReason = null;
      readMessageFields(toObject(event.message), reply);
    } else if (event.type === 'content_block_start') {
      startBlock(event.index, toObject(event.content_block), reply);
    } else if (event.type === 'content_block_delta') {
      const delta = toObject(event.delta);
      reply.turn?.addDelta(event.index, delta);
      readBlock(delta, reply);
    } else if (event.type === 'message_delta') {
      readStopReason(toObject(event.delta).stop_reason, reply);
      mergeUsage(event.usage, reply);
    } else if (event.type === 'message_stop' && reply.started) {
      reply.finishReason ??= 'stop';
    }
  },
  /** Cached tokens are not included in `input_tokens`, and are part of the input all the same. */
  readTokenCounts({ input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens }) {
    const cacheReadTokens = toTokenCount(cache_read_input_tokens);
    const cacheWriteTokens = toTokenCount(cache_creation_input_tokens);
    const inputTokens = toTokenCount(input_tokens) + cacheReadTokens + cacheWriteTokens;
    return { inputTokens, outputTokens: toTokenCount(output_tokens), cacheReadTokens, cacheWriteTokens };
  },
  readToolUses: readAnthropicToolUses,
  usdPerSearch: ANTHROPIC_USD_PER_SEARCH,
  quirksWithoutEffect: ['noMaxTokens', 'noTokenLimit', 'noStreamOptions', 'noSystemRole'],
};

function toContentBlock(part: MessagePart) {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const source = { type: 'base64', media_type: part.mediaType, data: part.base64 };
  return part.kind === 'image' ? { type: 'image', source } : { type: 'document', source, title: part.name };
}

function readMessageFields({ model, content, usage }: JsonObject, reply: ModelReply): void {
  if (typeof model === 'string') reply.model = model;
  for (const [index, block] of toArray(content).entries()) startBlock(index, toObject(block), reply);
  mergeUsage(usage, reply);
}

function startBlock(index: unknown, block: JsonObject, reply: ModelReply): void {
  reply.turn?.startBlock(index, block);
  readBlock(block, reply);
}

/** Reads a block or a piece of one. */
function readBlock(block: JsonObject, reply: ModelReply): void {
  const { type, text, thinking, citations, citation } = block;
  if (type === 'text' || type === 'text_delta') reply.addText(text);
  else if (type === 'thinking' || type === 'thinking_delta') reply.addReasoning(thinking);
  else readToolBlock(block, reply);
  for (const one of [...toArray(citations), citation]) readCitation(toObject(one), reply);
}

function readStopReason(reason: unknown, reply: ModelReply): void {
  if (typeof reason !== 'string') return;
  reply.finishReason = reason === 'pause_turn' && reply.turn !== null ? 'paused' : readFinishReason(reason);
}

/** A stream sends its counts at the beginning, and the changed ones again at the end. */
function mergeUsage(usage: unknown, reply: ModelReply): void {
  const given = Object.entries(toObject(usage)).filter(([, value]) => value !== null);
  reply.usage = { ...reply.usage, ...Object.fromEntries(given) };
}
