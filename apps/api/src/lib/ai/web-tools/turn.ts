import { type JsonObject, parseJson, toArray } from '../../egress/exchange.ts';
import type { AiRequest, WebTool } from '../request.ts';
import { getMaxUses, splitUses } from './tool-limits.ts';

const MAX_CONTENT = 16 * 1024 * 1024;

interface OpenBlock {
  block: JsonObject;
  input: string;
  citations: unknown[];
}

/** Fields of a block that a stream sends in pieces. */
const PIECES = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
]);

/** What Claude has written of an answer that may pause, as its API takes it back, and how often it used its tools. */
export class Turn {
  readonly content: JsonObject[] = [];
  #open = new Map<unknown, OpenBlock>();
  #pauses = 0;
  readonly #uses: Record<WebTool, number> = { web_search: 0, web_fetch: 0 };

  startBlock(index: unknown, given: JsonObject): void {
    const block = { ...given };
    this.#open.set(index, { block, input: '', citations: toArray(block.citations).slice() });
    // A pause may come between a use and its result: that use is still to be made.
    if (block.type === 'web_search_tool_result') this.#uses.web_search += 1;
    else if (block.type === 'web_fetch_tool_result') this.#uses.web_fetch += 1;
  }

  addDelta(index: unknown, delta: JsonObject): void {
    const open = this.#open.get(index);
    if (!open) return;
    const field = PIECES.get(String(delta.type));
    if (field !== undefined) open.block[field] = `${open.block[field] ?? ''}${delta[field] ?? ''}`;
    else if (delta.type === 'input_json_delta') open.input += delta.partial_json ?? '';
    else if (delta.type === 'citations_delta') open.citations.push(delta.citation);
  }

  endMessage(): void {
    for (const { block, input, citations } of this.#open.values()) {
      if (input !== '') block.input = parseJson(input) ?? {};
      if (citations.length > 0) block.citations = citations;
      this.content.push(block);
    }
    this.#open.clear();
  }

  /** Notes a pause. Returns false if the turn has paused too often, or cannot be sent back. */
  pause(request: AiRequest): boolean {
    this.endMessage();
    this.#pauses += 1;
    const isTooOften = this.#pauses > getMaxUses(request);
    return !isTooOften && this.content.length > 0 && JSON.stringify(this.content).length <= MAX_CONTENT;
  }

  /** How often each tool may still be used; below zero if the provider has not kept to the limit. */
  getRemainingUses(request: AiRequest): Record<WebTool, number> {
    const { web_search, web_fetch } = splitUses(request);
    return { web_search: web_search - this.#uses.web_search, web_fetch: web_fetch - this.#uses.web_fetch };
  }
}
