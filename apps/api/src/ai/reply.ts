import type { IncomingHttpHeaders } from 'node:http';
import { createStorableTextStream } from '@carillon/db/storable-text';
import { createParser } from 'eventsource-parser';
import { type JsonObject, parseJson, toObject } from '../egress/json.ts';
import type { ProviderError } from './errors.ts';
import type { ModelQuirks } from './models/quirks.ts';
import type { TokenCounts } from './pricing.ts';
import type { AiRequest } from './request.ts';

export const MAX_TEXT = 1024 * 1024;

/** Zero for anything that is not a count. Some services send zero without counting. */
export const toTokenCount = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;

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
  finishReason: 'stop' | 'length' | 'content_filter' | 'error' | null = null;
  /** What the provider reports in place of an answer, or of its end. */
  error: JsonObject | null = null;
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
