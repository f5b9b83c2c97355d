import type { AiRequest } from './client.ts';
import { fieldsOf } from './json-fields.ts';
import { type Part, partsOf } from './message.ts';
import type { Refusals } from './model-quirks.ts';
import { countIn, type Fields, type Heard, itemsOf, type Protocol } from './reply.ts';

/** OpenAI's chat completions, as a hundred services speak them, each with gaps and additions of its own. */
export const chatCompletions: Protocol = {
  path: '/chat/completions',
  headersOf: (key): Record<string, string> => (key === '' ? {} : { authorization: `Bearer ${key}` }),
  bodyOf(model, request, refuses) {
    const { temperature, onText } = request;
    const maxTokens = Math.min(request.maxTokens, refuses.moreTokensThan ?? request.maxTokens);
    return {
      model,
      ...(refuses.max_tokens ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
      ...(refuses.temperature ? {} : { temperature: temperature / 100 }),
      messages: messagesOf(request, refuses),
      ...(onText ? { stream: true } : {}),
      ...(onText && !refuses.stream_options ? { stream_options: { include_usage: true } } : {}),
    };
  },
  readWhole(answer, heard) {
    const choice = fieldsOf(itemsOf(answer.choices)[0]);
    if (typeof choice.message !== 'object' || choice.message === null) return false;
    heard.ending = 'whole';
    readChoice(answer, choice, choice.message, heard);
    return true;
  },
  readEvent(event, heard) {
    const choice = fieldsOf(itemsOf(event.choices)[0]);
    readChoice(event, choice, choice.delta, heard);
  },
  countsOf: ({ prompt_tokens, completion_tokens, prompt_tokens_details }) => ({
    inputTokens: countIn(prompt_tokens),
    outputTokens: countIn(completion_tokens),
    cacheReadTokens: countIn(fieldsOf(prompt_tokens_details).cached_tokens),
    cacheWriteTokens: 0,
  }),
};

function messagesOf(request: AiRequest, refuses: Refusals) {
  const { system } = request;
  if (system === undefined) return [{ role: 'user', content: contentOf(request) }];
  if (!refuses.system) {
    return [
      { role: 'system', content: system },
      { role: 'user', content: contentOf(request) },
    ];
  }
  return [{ role: 'user', content: contentOf({ ...request, prompt: `${system}\n\n${request.prompt}` }) }];
}

/** A prompt alone goes as a string: not every service knows parts. */
function contentOf(request: AiRequest) {
  return request.attachments?.length ? partsOf(request).map(partOf) : request.prompt;
}

function partOf(part: Part) {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const url = `data:${part.mediaType};base64,${part.base64}`;
  return part.kind === 'image'
    ? { type: 'image_url', image_url: { url } }
    : { type: 'file', file: { filename: part.name, file_data: url } };
}

/** A message, or what an event adds to it. */
function readChoice(about: Fields, choice: Fields, message: unknown, heard: Heard): void {
  if (heard.model === '' && typeof about.model === 'string') heard.model = about.model;
  const { content, reasoning_content, reasoning, refusal } = fieldsOf(message);
  heard.addReasoning(reasoning_content ?? reasoning);
  if (typeof content === 'string') heard.addText(content);
  else for (const part of itemsOf(content)) readPart(fieldsOf(part), heard);
  if (typeof refusal === 'string' && refusal !== '') {
    heard.addText(refusal);
    heard.refused = true;
  }
  const { finish_reason: reason } = choice;
  if (typeof reason === 'string' && reason !== '') heard.ending = heard.refused ? 'filtered' : endingOf(reason);
  // Some tell it in each event, and most in the last one alone.
  if (about.usage) heard.usage = fieldsOf(about.usage);
}

function endingOf(reason: string): Heard['ending'] {
  if (reason === 'content_filter') return 'filtered';
  // OpenRouter's word for a model that broke off.
  return reason === 'error' ? 'failed' : 'whole';
}

/** Mistral's models write their thoughts as a part of the content. */
function readPart(part: Fields, heard: Heard): void {
  if (part.type === 'text') heard.addText(part.text);
  else if (part.type === 'thinking')
    for (const thought of itemsOf(part.thinking)) heard.addReasoning(fieldsOf(thought).text);
}
