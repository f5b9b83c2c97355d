import type { IncomingHttpHeaders } from 'node:http';
import { createStorableTextStream } from '@carillon/db/storable-text';
import { createParser } from 'eventsource-parser';
import { type JsonObject, parseJson, toObject } from '../egress/json.ts';
import type { ProviderError } from './errors.ts';
import type { ModelQuirks } from './models/quirks.ts';
import type { TokenCounts } from './pricing.ts';
import { type AiRequest, countPdfs } from './request.ts';
import { Sources } from './web-tools/citations.ts';
import { Turn } from './web-tools/turn.ts';

export const MAX_TEXT = 1024 * 1024;

/** Zero for anything that is not a count. Some services send zero without counting. */
export const toTokenCount = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;

export interface Protocol {
  path: string;
  buildHeaders(key: string): Record<string, string>;
  /** `turn`: what the model has written so far, if it is to go on; null without tools. */
  buildBody(model: string, request: AiRequest, quirks: ModelQuirks, turn: Turn | null): JsonObject;
  /** Reads an answer that is not a stream; returns false if it is not one of this protocol. */
  readMessage(answer: JsonObject, reply: ModelReply): boolean;
  readEvent(event: JsonObject, reply: ModelReply): void;
  readTokenCounts(usage: JsonObject): TokenCounts;
  readToolUses(usage: JsonObject): ToolCounts;
  /** In US dollars, if the provider does not send the cost of a call. */
  usdPerSearch: number;
}

/** As a provider claims them: searches, and other uses or all uses. */
export interface ToolCounts {
  searches: unknown;
  others?: unknown;
  all?: unknown;
}

const SECTION_BREAK = '\n\n';

/** What has been read of an answer. Fields that are missing or of an unexpected type are ignored. */
export class ModelReply {
  model = '';
  /** Since the last use of a tool. */
  text = '';
  reasoning = '';
  /** All that was written since the answer began or was continued. */
  outputText = '';
  usage: JsonObject = {};
  /** From a header, in US dollars. */
  headerCost: unknown;
  refused = false;
  /** A stream that announces its beginning also announces its end. */
  started = false;
  /** Null until the answer says that it has ended. `paused`: the provider waits until the answer is sent back. */
  finishReason: 'stop' | 'length' | 'content_filter' | 'error' | 'paused' | null = null;
  /** The service asks us to run the tools. */
  callsTools = false;
  /** What the provider reports in place of an answer, or of its end. */
  error: JsonObject | null = null;
  /** Seen in the answer since it began or was continued. */
  toolUses = { all: 0, searches: 0 };
  /** Before it was continued. Their results are input again. */
  earlierToolUses = 0;
  /** Null for a call without tools. */
  readonly turn: Turn | null;
  #deltas: ReturnType<typeof createStorableTextStream> | null;
  #earlierText = '';
  #breaks = false;
  readonly sources: Sources;

  constructor(request: Pick<AiRequest, 'onText' | 'tools' | 'attachments'> = {}) {
    const { onText, tools = [], attachments = [] } = request;
    this.turn = tools.length > 0 ? new Turn() : null;
    this.#deltas = onText ? createStorableTextStream(MAX_TEXT, onText) : null;
    this.sources = new Sources(countPdfs(attachments));
  }

  addText(text: unknown) {
    if (typeof text !== 'string' || text === '') return;
    if (this.#breaks) this.#deltas?.add(SECTION_BREAK);
    this.#breaks = false;
    this.text += text;
    this.outputText += text;
    this.#deltas?.add(text);
  }

  addReasoning(text: unknown) {
    if (typeof text !== 'string') return;
    this.reasoning += text;
    this.outputText += text;
  }

  /** What follows is written with the result of a tool. */
  startSection() {
    if (this.text !== '') {
      this.#earlierText += this.text + SECTION_BREAK;
      this.text = '';
      this.#breaks = true;
    }
    this.sources.startSection();
  }

  /** Makes the reply ready for the rest of a paused answer. */
  resume() {
    this.outputText = '';
    this.earlierToolUses += this.toolUses.all;
    this.toolUses = { all: 0, searches: 0 };
    this.usage = {};
    this.started = false;
    this.finishReason = null;
  }

  endText() {
    if (this.finishReason !== 'paused') this.#deltas?.end();
  }

  /** The text that follows the last use of a tool: before it, models write what they are about to do. */
  get answer(): string {
    return /\S/.test(this.text) ? this.text : this.#earlierText + this.text;
  }
}

/** Reads the body of a response as it arrives. An error from `read` ends the call. */
export interface ReplyReader {
  read(bytes: Buffer): ProviderError | null;
  end(): ProviderError | null;
}

/** Some services do not stream, and show it only by the content type of their answer. */
export function createReplyReader(
  protocol: Protocol,
  headers: IncomingHttpHeaders,
  reply: ModelReply,
  streamed: boolean,
): ReplyReader {
  // LiteLLM sends the cost of a call here.
  reply.headerCost = headers['x-litellm-response-cost'];
  const isStream = streamed && !/^application\/json\b/i.test(headers['content-type'] ?? '');
  return isStream ? createStreamReader(protocol, headers, reply) : createMessageReader(protocol, headers, reply);
}

/** `"error": null` and `"error": {}` accompany answers of some services. */
const isError = ({ error, object, type }: JsonObject) =>
  object === 'error' || type === 'error' || (Boolean(error) && JSON.stringify(error) !== '{}');

function createMessageReader(protocol: Protocol, headers: IncomingHttpHeaders, reply: ModelReply): ReplyReader {
  const chunks: Buffer[] = [];
  return {
    read(bytes) {
      chunks.push(bytes);
      return null;
    },
    end() {
      const [first] = chunks;
      const body = new TextDecoder().decode(chunks.length === 1 ? first : Buffer.concat(chunks));
      const answer = parseJson(body);
      // Google sends its errors in a list.
      const fields = toObject(Array.isArray(answer) ? answer[0] : answer);
      if (isError(fields)) return { kind: 'reported', error: fields, headers };
      if (!protocol.readMessage(fields, reply)) return { kind: 'unreadable', body };
      if (reply.error) return { kind: 'reported', error: reply.error, headers };
      reply.endText();
      return null;
    },
  };
}

function createStreamReader(protocol: Protocol, headers: IncomingHttpHeaders, reply: ModelReply): ReplyReader {
  const decoder = new TextDecoder();
  let error: ProviderError | null = null;
  const parser = createParser({
    onEvent({ data }) {
      if (error !== null) return;
      if (data === '[DONE]') {
        if (!reply.started) reply.finishReason ??= 'stop';
        return;
      }
      const event = parseJson(data);
      const fields = toObject(event);
      if (event === undefined) error = { kind: 'unreadable', body: data };
      else if (isError(fields)) error = { kind: 'reported', error: fields, headers };
      else protocol.readEvent(fields, reply);
      if (reply.error) error ??= { kind: 'reported', error: reply.error, headers };
    },
  });
  return {
    read(bytes) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      return error;
    },
    end() {
      if (reply.finishReason !== null) {
        reply.endText();
        return null;
      }
      if (reply.started || reply.outputText !== '')
        return { kind: 'connection', reason: 'the answer has no end', sent: true };
      return { kind: 'unreadable', body: '' };
    },
  };
}
