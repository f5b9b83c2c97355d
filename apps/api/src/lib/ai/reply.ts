import type { IncomingHttpHeaders } from 'node:http';
import { createStorableTextStream } from '@carillon/contract/validation/unsafe-values';
import { createParser } from 'eventsource-parser';
import { type JsonObject, parseJson, toObject } from '../egress/exchange.ts';
import type { ProviderError } from './errors.ts';
import type { ModelQuirks } from './models/quirks.ts';
import type { TokenCounts } from './pricing.ts';
import { ReasoningFilter } from './reasoning.ts';
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
  quirksWithoutEffect?: readonly (keyof ModelQuirks)[];
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
  finishReason: FinishReason | 'paused' | null = null;
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
  #filter: ReasoningFilter;
  readonly #closesReasoning: boolean;
  readonly sources: Sources;

  /** `closesReasoning`: the last answer of the model had the closing tag of reasoning alone. */
  constructor(request: Pick<AiRequest, 'onText' | 'tools' | 'attachments'> = {}, closesReasoning = false) {
    const { onText, tools = [], attachments = [] } = request;
    this.turn = tools.length > 0 ? new Turn() : null;
    this.#deltas = onText ? createStorableTextStream(MAX_TEXT, onText) : null;
    this.sources = new Sources(countPdfs(attachments));
    this.#closesReasoning = closesReasoning;
    this.#filter = this.#createFilter();
  }

  addText(text: unknown) {
    if (typeof text !== 'string' || text === '') return;
    this.outputText += text;
    this.#filter.add(text);
  }

  addReasoning(text: unknown) {
    if (typeof text !== 'string') return;
    this.reasoning += text;
    this.outputText += text;
  }

  get hasClosedReasoning(): boolean {
    return this.#filter.isUnopened;
  }

  /** The text has ended within reasoning. */
  get isOnlyReasoning(): boolean {
    return this.#filter.isInside;
  }

  #createFilter(): ReasoningFilter {
    const reply = this;
    const sink = {
      get text() {
        return reply.text;
      },
      showText(text: string) {
        if (text === '') return;
        if (reply.#breaks) reply.#deltas?.add(SECTION_BREAK);
        reply.#breaks = false;
        reply.text += text;
        reply.#deltas?.add(text);
      },
      addReasoning(text: string) {
        reply.reasoning += text;
      },
      takeBackText() {
        reply.reasoning += reply.text;
        reply.text = '';
      },
    };
    return new ReasoningFilter(sink, { isStream: this.#deltas !== null, expectsClosing: this.#closesReasoning });
  }

  /** What follows is written with the result of a tool. */
  startSection() {
    this.#filter.end();
    this.#filter = this.#createFilter();
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
    this.error = null;
  }

  endText() {
    if (this.finishReason === 'paused') return;
    this.#filter.end();
    this.#deltas?.end();
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

interface TextReader {
  read(text: string): ProviderError | null;
  end(): ProviderError | null;
}

const MIN_START = 6;

/** Services stream unasked, do not stream although they are asked to, and name another content type. */
export function createReplyReader(protocol: Protocol, headers: IncomingHttpHeaders, reply: ModelReply): ReplyReader {
  // LiteLLM sends the cost of a call here.
  reply.headerCost = headers['x-litellm-response-cost'];
  const decoder = new TextDecoder();
  let reader: TextReader | null = null;
  let start = '';
  const read = (text: string, isEnd: boolean) => {
    if (reader) return reader.read(text);
    start = (start + text).trimStart();
    if (start.length < MIN_START && !isEnd) return null;
    const create = isStream(start, headers) ? createStreamReader : createMessageReader;
    reader = create(protocol, headers, reply);
    return reader.read(start);
  };
  return {
    read: (bytes) => read(decoder.decode(bytes, { stream: true }), false),
    end: () => read(decoder.decode(), true) ?? (reader as TextReader).end(),
  };
}

const isStream = (start: string, headers: IncomingHttpHeaders) =>
  /^(?:data|event|id|retry)?:/.test(start) ||
  (/^text\/event-stream\b/i.test(headers['content-type'] ?? '') && !/^[{[]/.test(start));

/** Some services send an empty error beside each answer. */
export function hasContent(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return typeof value === 'object' && value !== null ? Object.values(value).some(hasContent) : Boolean(value);
}

const isError = ({ error, object, type }: JsonObject) => object === 'error' || type === 'error' || hasContent(error);

function createMessageReader(protocol: Protocol, headers: IncomingHttpHeaders, reply: ModelReply): TextReader {
  const texts: string[] = [];
  return {
    read(text) {
      texts.push(text);
      return null;
    },
    end() {
      const body = removeStreamEnd(texts.join(''));
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

function removeStreamEnd(body: string): string {
  const at = body.lastIndexOf('data:');
  return at > 0 && isStreamEnd(body.slice(at + 5)) ? body.slice(0, at) : body;
}

const isStreamEnd = (data: string) => /^\s*"?\[DONE\]"?\s*$/i.test(data);

function createStreamReader(protocol: Protocol, headers: IncomingHttpHeaders, reply: ModelReply): TextReader {
  let error: ProviderError | null = null;
  let isEnd = false;
  const parser = createParser({
    onEvent({ data, event: name }) {
      if (error !== null || data.trim() === '') return;
      if (isStreamEnd(data)) {
        if (!reply.started) reply.finishReason ??= 'stop';
        return;
      }
      const event = parseJson(data);
      const fields = toObject(event);
      if (isError(fields)) error = { kind: 'reported', error: fields, headers };
      else if (name === 'error' && hasContent(event ?? data))
        error = { kind: 'reported', error: event ?? data, headers };
      // The connection may have closed in the middle of the last one.
      else if (event === undefined && !isEnd) error = { kind: 'unreadable', body: data };
      else protocol.readEvent(fields, reply);
      if (reply.error) error ??= { kind: 'reported', error: reply.error, headers };
    },
  });
  return {
    read(text) {
      parser.feed(text);
      return error;
    },
    end() {
      // The last event may lack its empty line, or the end of its line.
      isEnd = true;
      parser.feed('\n\n');
      if (error !== null) return error;
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

type FinishReason = 'stop' | 'length' | 'content_filter' | 'error';

const MEANINGS: [words: RegExp, reason: FinishReason][] = [
  [
    /content[_ -]?filter|safety|recitation|block|prohibited|spii|refus|moderat|guardrail|policy|sensitive|toxic/i,
    'content_filter',
  ],
  [
    /length|max[_ -]?(?:\w+[_ -])?tokens?|maxtokens|tokens?[_ -]?limit|context[_ -]?window|error[_ -]limit|truncated/i,
    'length',
  ],
  [/error|abort|cancel|fail|time[_ -]?out|insufficient|unavailable|malformed/i, 'error'],
];

/** What the reason of a provider means, whatever its spelling. An unknown one is a complete answer. */
export const readFinishReason = (reason: string): FinishReason =>
  MEANINGS.find(([words]) => words.test(reason))?.[1] ?? 'stop';
