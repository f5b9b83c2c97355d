import type { IncomingHttpHeaders } from 'node:http';
import { createStorableTextStream } from '@carillon/db/storable-text';
import { createParser } from 'eventsource-parser';
import { type JsonObject, parseJson, toObject } from '../egress/json.ts';
import type { ProviderError } from './errors.ts';
import type { ModelQuirks } from './model-quirks.ts';
import type { TokenCounts } from './pricing.ts';
import type { AiRequest } from './request.ts';

export const MAX_TEXT = 1024 * 1024;

/** A PostgreSQL integer. */
const MAX_TOKEN_COUNT = 2 ** 31 - 1;

/** Zero for anything that is not a count. Some services send zero without counting. */
export const toTokenCount = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_TOKEN_COUNT ? value : 0;

export interface Protocol {
  path: string;
  buildHeaders(key: string): Record<string, string>;
  buildBody(model: string, request: AiRequest, quirks: ModelQuirks): JsonObject;
  /** Reads an answer that is not a stream; returns false if it is not one of this protocol. */
  readMessage(answer: JsonObject, reply: ModelReply): boolean;
  readEvent(event: JsonObject, reply: ModelReply): void;
  readTokenCounts(usage: JsonObject): TokenCounts;
}

/** What has been read of an answer. Fields that are missing or of an unexpected type are ignored. */
export class ModelReply {
  model = '';
  text = '';
  reasoning = '';
  usage: JsonObject = {};
  /** From a header, in US dollars. */
  headerCost: unknown;
  refused = false;
  /** A stream that announces its beginning also announces its end. */
  started = false;
  /** Null until the answer says that it has ended. */
  finishReason: 'stop' | 'content_filter' | 'error' | null = null;
  #deltas: ReturnType<typeof createStorableTextStream> | null;

  constructor(onText?: (delta: string) => void) {
    this.#deltas = onText ? createStorableTextStream(MAX_TEXT, onText) : null;
  }

  addText(text: unknown) {
    if (typeof text !== 'string') return;
    this.text += text;
    this.#deltas?.add(text);
  }

  addReasoning(text: unknown) {
    if (typeof text === 'string') this.reasoning += text;
  }

  endText() {
    this.#deltas?.end();
  }

  get outputText() {
    return this.text + this.reasoning;
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
  return isStream ? createStreamReader(protocol, reply) : createMessageReader(protocol, reply);
}

function createMessageReader(protocol: Protocol, reply: ModelReply): ReplyReader {
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
      if (answer === undefined || !protocol.readMessage(toObject(answer), reply)) return { kind: 'unreadable', body };
      reply.endText();
      return null;
    },
  };
}

function createStreamReader(protocol: Protocol, reply: ModelReply): ReplyReader {
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
      else if (fields.error || fields.object === 'error') error = { kind: 'event', event };
      else protocol.readEvent(fields, reply);
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
      if (reply.started) return { kind: 'connection', reason: 'the answer has no end', sent: true };
      return { kind: 'unreadable', body: '' };
    },
  };
}
