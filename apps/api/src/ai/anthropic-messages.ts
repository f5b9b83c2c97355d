import { fieldsOf } from './json-fields.ts';
import { type Part, partsOf } from './message.ts';
import { countIn, type Fields, type Heard, itemsOf, type Protocol } from './reply.ts';

const VERSION = '2023-06-01';
/** Tasks have temperatures up to 2, Claude takes them up to 1. */
const MAX_TEMPERATURE = 1;

/** Anthropic's Messages API. */
export const anthropicMessages: Protocol = {
  path: '/messages',
  headersOf: (key) => ({ 'anthropic-version': VERSION, 'x-api-key': key }),
  bodyOf(model, request, refuses) {
    const { system, maxTokens, temperature, onText } = request;
    return {
      model,
      max_tokens: Math.min(maxTokens, refuses.moreTokensThan ?? maxTokens),
      ...(refuses.temperature ? {} : { temperature: Math.min(temperature / 100, MAX_TEMPERATURE) }),
      ...(system === undefined ? {} : { system: [{ type: 'text', text: system }] }),
      messages: [{ role: 'user', content: partsOf(request).map(blockOf) }],
      ...(onText ? { stream: true } : {}),
    };
  },
  readWhole(answer, heard) {
    if (!Array.isArray(answer.content)) return false;
    heard.ending = 'whole';
    readMessage(answer, heard);
    readStop(answer.stop_reason, heard);
    return true;
  },
  readEvent(event, heard) {
    if (event.type === 'message_start') {
      heard.ending = 'begun';
      readMessage(fieldsOf(event.message), heard);
    } else if (event.type === 'content_block_start') {
      readBlock(fieldsOf(event.content_block), heard);
    } else if (event.type === 'content_block_delta') {
      readBlock(fieldsOf(event.delta), heard);
    } else if (event.type === 'message_delta') {
      readStop(fieldsOf(event.delta).stop_reason, heard);
      addUsage(event.usage, heard);
    } else if (event.type === 'message_stop' && heard.ending === 'begun') {
      heard.ending = 'whole';
    }
  },
  /** What was read from the cache or written there is beside `input_tokens`, and part of the input all the same. */
  countsOf({ input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens }) {
    const cacheReadTokens = countIn(cache_read_input_tokens);
    const cacheWriteTokens = countIn(cache_creation_input_tokens);
    const inputTokens = countIn(input_tokens) + cacheReadTokens + cacheWriteTokens;
    return { inputTokens, outputTokens: countIn(output_tokens), cacheReadTokens, cacheWriteTokens };
  },
};

function blockOf(part: Part) {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const source = { type: 'base64', media_type: part.mediaType, data: part.base64 };
  return part.kind === 'image' ? { type: 'image', source } : { type: 'document', source, title: part.name };
}

function readMessage({ model, content, usage }: Fields, heard: Heard): void {
  if (typeof model === 'string') heard.model = model;
  for (const block of itemsOf(content)) readBlock(fieldsOf(block), heard);
  addUsage(usage, heard);
}

/** A block, or what an event adds to it. Those of tools, and kinds that are still to come, have nothing to be read. */
function readBlock({ type, text, thinking }: Fields, heard: Heard): void {
  if (type === 'text' || type === 'text_delta') heard.addText(text);
  else if (type === 'thinking' || type === 'thinking_delta') heard.addReasoning(thinking);
}

function readStop(reason: unknown, heard: Heard): void {
  if (typeof reason === 'string') heard.ending = reason === 'refusal' ? 'filtered' : 'whole';
}

/** A stream tells its counts at its beginning, and at its end those that are new. */
function addUsage(usage: unknown, heard: Heard): void {
  const told = Object.entries(fieldsOf(usage)).filter(([, value]) => value !== null);
  heard.usage = { ...heard.usage, ...Object.fromEntries(told) };
}
