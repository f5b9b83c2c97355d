import { createStorableTextStream } from '@carillon/db/storable-text';
import type { AiRequest } from './client.ts';
import type { fieldsOf } from './json-fields.ts';
import type { Refusals } from './model-quirks.ts';

/** So much of an answer is kept. */
export const MAX_TEXT = 1024 * 1024;

export type Fields = ReturnType<typeof fieldsOf>;

/** A protocol by which models are asked: what is sent, and how what comes back is read. */
export interface Protocol {
  /** Below the address of the service. */
  path: string;
  headersOf(key: string): Record<string, string>;
  /** The body of a request, as JSON will have it. */
  bodyOf(model: string, request: AiRequest, refuses: Refusals): Fields;
  /** Reads an answer that came in one piece; false: it is none. */
  readWhole(answer: Fields, heard: Heard): boolean;
  /** Reads an event of a stream. */
  readEvent(event: Fields, heard: Heard): void;
  countsOf(usage: Fields): Counts;
}

/** Tokens; zero where the provider has not told. */
export interface Counts {
  inputTokens: number;
  outputTokens: number;
  /** Input tokens that the provider had in its cache, or wrote there: parts of `inputTokens`. */
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

/**
 * What has come of an answer, whatever fields it leaves out and whatever it has in them. A field that is none of its
 * kind is as good as none.
 */
export class Heard {
  model = '';
  text = '';
  /** What the model let see of its thoughts, which is billed as well. */
  reasoning = '';
  /** As its protocol words it. */
  usage: Fields = {};
  /** A header's word on what the call costs, in US dollars. */
  headerCost: unknown;
  /** The text has the model's refusal in it. */
  refused = false;
  /** Null: nothing has said so far that this is an answer. `begun`: it has still to say that it is whole. */
  ending: 'begun' | 'whole' | 'filtered' | 'failed' | null = null;
  #pieces: ReturnType<typeof createStorableTextStream> | null;

  constructor(onText?: (delta: string) => void) {
    this.#pieces = onText ? createStorableTextStream(MAX_TEXT, onText) : null;
  }

  addText(text: unknown) {
    if (typeof text !== 'string') return;
    this.text += text;
    this.#pieces?.add(text);
  }

  addReasoning(text: unknown) {
    if (typeof text === 'string') this.reasoning += text;
  }

  /** The text has come to its end. */
  endText() {
    this.#pieces?.end();
  }

  /** All that was written, shown or not. */
  get written() {
    return this.text + this.reasoning;
  }
}

/** What a PostgreSQL integer holds. */
const MAX_COUNT = 2 ** 31 - 1;

/** A number of tokens; zero for whatever is none. Some services fill the field in without counting, with zero. */
export const countIn = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_COUNT ? value : 0;

/** The items of parsed JSON; none where it is no list. */
export const itemsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
