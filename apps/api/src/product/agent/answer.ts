import { toOneLine } from '@carillon/contract/validation/unsafe-values';
import {
  countDraftStart,
  DRAFT_FIELD,
  type Draft,
  extractDraft,
  FIELD_START,
  findDraft,
  parseWhole,
  readDraft,
  removeDraftStart,
  UNREADABLE,
} from './proposals/extract-draft.ts';

export interface ParsedAnswer {
  content: string;
  suggestions: string[];
  /** The task that the model proposes; null without one. */
  draft: Draft | null;
}

const MAX_SUGGESTIONS = 5;
const MAX_SUGGESTION_CHARACTERS = 200;
const DECORATION = '*_`#>~=-';
/** Some models answer in JSON, fenced or not, although they are not asked to. */
const JSON_ANSWER = /^(?:```(?:json)?\s*)?\{\s*"(?:content|suggestions)"/i;
const JSON_ANSWER_START = /^(?:`{0,3}|```j?s?o?n?\s*|(?:```(?:json)?\s*)?\{\s*(?:"[a-z]*"?)?)$/i;

/** More than the marker, or the beginning of a draft, has. */
const MAX_SPLIT = 128;

export const toMarkerLine = (marker: string): string => `=== ${marker} ===`;

/** `marker` is random for each call. Without it everything is content, unless it is JSON with these fields. */
export function parseAnswer(text: string, marker: string): ParsedAnswer {
  const found = new RegExp(marker, 'i').exec(text);
  if (!found) return parseJsonAnswer(text) ?? parseUnmarked(text, marker);
  const before = extractDraft(removeMarkerLine(text.slice(0, found.index)), false);
  const rest = text.slice(found.index + marker.length).replace(/^[ \t*_`#>~=-]+/, '');
  const after = extractDraft(removeMarkerLines(rest, marker).join('\n'), true);
  const { draft, beside } = before.draft ? before : after;
  const content = before.rest.trim();
  const below = removeDraftStart(after.rest).trim();
  // The model started with the marker: the answer follows it.
  if (content === '' && below !== '') return { content: below, suggestions: [], draft };
  const suggestions = cleanSuggestions(parseSuggestions(below));
  return { ...fromBeside(beside), ...(content && { content }), ...(suggestions.length > 0 && { suggestions }), draft };
}

function parseUnmarked(text: string, marker: string): ParsedAnswer {
  const { rest, draft, beside } = extractDraft(text, false);
  const content = removePartialMarker(removeDraftStart(rest), marker).trim();
  return { ...fromBeside(beside), ...(content && { content }), draft };
}

/** Some models write the whole answer into the object of the draft. */
function fromBeside({ content, suggestions }: Record<string, unknown>): Omit<ParsedAnswer, 'draft'> {
  return {
    content: typeof content === 'string' ? content.toWellFormed().trim() : '',
    suggestions: Array.isArray(suggestions) ? cleanSuggestions(suggestions) : [],
  };
}

/** Removes the decoration before the marker, and the rest of its line unless that contains text. */
function removeMarkerLine(text: string): string {
  const from = skipDecorationBefore(text, text.length);
  const end = [text.indexOf('\n', from), text.indexOf('===', from)].find((at) => at !== -1);
  return text.slice(0, end);
}

const DRAFT_IN_JSON = new RegExp(`,?\\s{0,20}"(?:${DRAFT_FIELD}"\\s{0,20}:|(?=p)${FIELD_START}"?\\s{0,20}$)`, 'i');

function parseJsonAnswer(text: string): ParsedAnswer | null {
  if (!JSON_ANSWER.test(text.trimStart())) return null;
  const value = (parseJson(text) ?? parseWhole(text) ?? {}) as Record<string, unknown>;
  const { content, suggestions } = value;
  const { draft, beside } = readDraft(value) ?? { draft: null, beside: value };
  // JSON escapes can contain lone surrogates.
  if (typeof content === 'string' && (draft || Array.isArray(suggestions))) return { ...fromBeside(beside), draft };
  const at = text.search(DRAFT_IN_JSON);
  return at === -1 ? null : { content: text.slice(0, at).trim(), suggestions: [], draft: UNREADABLE.draft };
}

/** The token limit may cut the marker short. */
function removePartialMarker(text: string, marker: string): string {
  const at = text.lastIndexOf('\n');
  const partial = /^[\s*_`]*={3,}[ \t]*(\w*)$/.exec(text.slice(at + 1))?.[1];
  return partial !== undefined && marker.startsWith(partial.toLowerCase()) ? text.slice(0, at + 1) : text;
}

const removeMarkerLines = (text: string, marker: string) =>
  text.split(/\r?\n/).filter((line) => !line.toLowerCase().includes(marker));

function parseSuggestions(text: string): readonly unknown[] {
  const parsed = parseJson(text);
  const listed = Array.isArray(parsed) ? parsed : (parsed as Record<string, unknown> | null)?.suggestions;
  return Array.isArray(listed) ? listed : text.split('\n');
}

function parseJson(text: string): unknown {
  const [, inner = text] = /^\s*```\w*\s([\s\S]*?)```\s*$/.exec(text) ?? [];
  try {
    return JSON.parse(inner);
  } catch {
    return null;
  }
}

const removeBullet = (line: string) =>
  line
    .trim()
    .replace(/^(?:[-*>#]+\s+|[•–—·]\s*|-(?=\p{L})|\(?\d{1,2}[.)]\s+|\[[ x]?\]\s+)+/u, '')
    .replace(/,$/, '');

function cleanSuggestions(given: readonly unknown[]): string[] {
  const cleaned = new Map<string, string>();
  for (const one of given) {
    const text = typeof one === 'string' ? removeQuotes(removeBullet(toOneLine(one.toWellFormed()))) : '';
    const key = text.toLowerCase();
    const isHeading = text.endsWith(':') || /^(?:```|\{)/.test(text) || !/[\p{L}\p{N}]/u.test(text);
    if (isHeading || [...text].length > MAX_SUGGESTION_CHARACTERS || cleaned.has(key)) continue;
    cleaned.set(key, text);
  }
  return [...cleaned.values()].slice(0, MAX_SUGGESTIONS);
}

const QUOTED =
  /^(?:\*\*([^*]+)\*\*|__([^_]+)__|"([^"]+)"|'([^']+)'|`([^`]+)`|[“„]([^“”]+)[”“]|«([^»]+)»|「([^」]+)」)$/u;

function removeQuotes(text: string): string {
  const inner = QUOTED.exec(text)
    ?.slice(1)
    .find((found) => found !== undefined);
  return inner === undefined ? text : removeQuotes(inner.trim());
}

/** Holds back what may be the marker or a draft: the streamed text is always a prefix of `parseAnswer`'s content. */
export function createContentStream(marker: string, onContent: (text: string) => void) {
  let held = '';
  let sent = '';
  /** How many of the first characters of `held` are decoration. */
  let decorated = 0;
  /** How many have no marker and no draft that begins and ends in them. */
  let searched = 0;
  let state: 'start' | 'content' | 'ended' = 'start';
  const send = (text: string) => {
    if (text === '') return;
    sent += text;
    onContent(text);
  };
  return {
    add(delta: string) {
      if (state === 'ended') return;
      held += delta;
      if (state === 'start') {
        held = held.trimStart();
        if (JSON_ANSWER_START.test(held)) return;
        state = JSON_ANSWER.test(held) ? 'ended' : 'content';
        if (state === 'ended') return;
      }
      const from = Math.max(0, searched - MAX_SPLIT);
      const recent = held.slice(from);
      const found = [recent.search(new RegExp(marker, 'i')), findDraft(recent)].filter((at) => at !== -1);
      if (found.length > 0) state = 'ended';
      const until = Math.min(...found.map((at) => from + at), held.length - countHeld(held, marker));
      const end = skipDecorationBefore(held, until, decorated);
      send(held.slice(0, end));
      held = held.slice(end);
      decorated = until - end;
      searched = held.length;
    },
    // What was sent may have turned out to be reasoning.
    end: (content: string) => send(content.startsWith(sent) ? content.slice(sent.length) : ''),
  };
}

const countHeld = (text: string, marker: string) => Math.max(countPartialMarker(text, marker), countDraftStart(text));

/** How many of the last characters may be the start of the marker. */
function countPartialMarker(text: string, marker: string): number {
  for (let length = Math.min(text.length, marker.length - 1); length > 0; length--) {
    if (marker.startsWith(text.slice(-length).toLowerCase())) return length;
  }
  return 0;
}

/** The first `known` characters are decoration. */
function skipDecorationBefore(text: string, end: number, known = 0): number {
  let at = end;
  while (at > known && isDecoration(text[at - 1] as string)) at--;
  return at <= known ? 0 : at;
}

const isDecoration = (character: string) => DECORATION.includes(character) || /\s/.test(character);
