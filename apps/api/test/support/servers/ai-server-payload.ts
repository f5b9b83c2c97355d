import type { AiAnswer } from './ai-server.ts';
import type { ChatRequest } from './ai-server-input.ts';

/** Builds the body of a response, or the events of a stream. */
export function buildPayload(request: ChatRequest, answer: AiAnswer, streamed: boolean): Buffer {
  if (answer.body instanceof Uint8Array) return Buffer.from(answer.body);
  if (answer.body !== undefined) {
    return Buffer.from(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  }
  const prompt = getLastText(request);
  const text = answer.text ?? `Answer to: ${prompt.slice(0, 200)}`;
  const about = { id: 'chatcmpl-1', created: 1_750_000_000, model: answer.model ?? request.model };
  const finish = answer.finishReason ?? 'stop';
  const usage = answer.usage === null ? {} : { usage: buildUsage(answer.usage ?? {}, prompt, text) };
  const annotated = answer.annotations ? { annotations: answer.annotations } : {};
  if (!streamed) {
    const message = { role: 'assistant', content: text, ...annotated };
    const choice = { index: 0, message, finish_reason: finish };
    return Buffer.from(JSON.stringify({ ...about, object: 'chat.completion', choices: [choice], ...usage }));
  }
  const chunk = (delta: object, finishReason: string | null) => ({
    ...about,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const pieces = (answer.pieces ?? text.match(/\S+\s*|\s+/g) ?? []).slice(0, answer.cut?.after);
  const wantsUsage = answer.usage !== null && request.stream_options?.include_usage === true;
  const begun = [chunk({ role: 'assistant', content: '' }, null), ...pieces.map((content) => chunk({ content }, null))];
  if (answer.cut) return toEventStream(typeof answer.cut.by === 'object' ? [...begun, answer.cut.by] : begun);
  const usageChunk = wantsUsage ? [{ ...about, object: 'chat.completion.chunk', choices: [], ...usage }] : [];
  return Buffer.concat([
    toEventStream([...begun, chunk(annotated, finish), ...usageChunk]),
    Buffer.from('data: [DONE]\n\n'),
  ]);
}

const toEventStream = (events: object[]) =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

function getLastText(request: ChatRequest): string {
  const content = request.messages.at(-1)?.content ?? '';
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('\n');
}

function buildUsage(given: NonNullable<AiAnswer['usage']>, prompt: string, text: string) {
  const { promptTokens: _, completionTokens: __, ...more } = given;
  const promptTokens = given.promptTokens ?? Math.ceil(prompt.length / 4);
  const completionTokens = given.completionTokens ?? Math.ceil(text.length / 4);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...more,
  };
}
