import { jsonrepair } from 'jsonrepair';
import { parseJson } from '../../../lib/egress/exchange.ts';

/** The field that marks a draft, so that it is found also where the model forgets the marker line. */
export const DRAFT_FIELD = 'proposedTask';

const MAX_CHARACTERS = 32_000;
/** Repairing takes time that grows with the square of the length. */
const MAX_REPAIRED = 6000;
const MAX_DEPTH = 32;
/** What may stand before the field: a fence and a brace. Longer is no draft. */
const MAX_OPENING = 64;

const OPENED = new RegExp(`\\{\\s{0,20}["'“”]?${DRAFT_FIELD}`, 'i');
const FENCE = /`{3,8}\w{0,10}\s{0,20}$/;
/** Matches each beginning of the field's name, also an empty one. */
export const FIELD_START = [...DRAFT_FIELD].reduceRight((rest, letter) => `(?:${letter}${rest})?`, '');
const OPENING_START = new RegExp(`(?:\`{3,8}\\w{0,10}\\s{0,20})?(?:\\{\\s{0,20}["'“”]?${FIELD_START})?$`, 'i');

export interface Draft {
  /** What the model wrote as the task; undefined if it cannot be read. */
  value: unknown;
}

interface ReadDraft {
  draft: Draft | null;
  /** The other fields of the object that has the draft. */
  beside: Record<string, unknown>;
}

interface Extracted extends ReadDraft {
  /** The text without the draft. */
  rest: string;
}

const NO_DRAFT: ReadDraft = { draft: null, beside: {} };
export const UNREADABLE: ReadDraft = { draft: { value: undefined }, beside: {} };
const HAS_PROMPT = /["'“”]?prompt["'“”]?\s{0,20}:/i;

/** Where a draft begins in the text of an answer, its fence included; -1 without one. */
export function findDraft(text: string): number {
  const at = text.includes('{') ? text.search(OPENED) : -1;
  return at === -1 ? -1 : at - countFence(text, at);
}

/** How many of the last characters may be the beginning of a draft. */
export const countDraftStart = (text: string): number => OPENING_START.exec(text.slice(-MAX_OPENING))?.[0].length ?? 0;

/** Removes the beginning of a draft where the token limit has cut it. */
export function removeDraftStart(text: string): string {
  const length = countDraftStart(text);
  const [rest, end] = [text.slice(0, text.length - length), text.slice(text.length - length)];
  const isOpening = end.includes('{') && (/^ *$/.test(rest.slice(rest.lastIndexOf('\n') + 1)) || /[`p]/i.test(end));
  return isOpening ? rest : text;
}

/** Takes every draft out of a text, and keeps the first. Where the model was to write one, the field may be missing. */
export function extractDraft(text: string, isExpected: boolean): Extracted {
  const parts: string[] = [];
  let found: ReadDraft = NO_DRAFT;
  let remaining = text;
  for (;;) {
    const marked = OPENED.exec(remaining)?.index;
    const at = marked ?? (isExpected ? remaining.indexOf('{') : -1);
    if (at === -1) break;
    const end = findEnd(remaining, at);
    const object = remaining.slice(at, end ?? remaining.length);
    const value = end === null ? undefined : parseLoosely(object);
    const isBroken = end === null && !/^\{\s*"suggestions"/.test(object);
    const read = readDraft(value) ?? (marked !== undefined || isBroken || HAS_PROMPT.test(object) ? UNREADABLE : null);
    if (!read) break;
    if (found.draft?.value === undefined) found = read;
    const fence = countFence(remaining, at);
    parts.push(remaining.slice(0, at - fence));
    const after = remaining.slice(at + object.length);
    remaining = fence > 0 ? after.replace(/^\s{0,20}`{3,8}/, '') : after;
  }
  if (parts.length === 0) return { rest: text, ...found };
  const rest = [...parts, remaining].map((part) => part.trim());
  return { rest: rest.filter(Boolean).join('\n\n'), ...found };
}

/** Reads an answer that is one JSON object. Undefined if it is cut or unreadable. */
export function parseWhole(text: string): unknown {
  const at = text.indexOf('{');
  const end = at === -1 ? null : findEnd(text, at);
  return end === null ? undefined : parseLoosely(text.slice(at, end));
}

/** Null if the value is no draft. */
export function readDraft(answer: unknown): ReadDraft | null {
  if (!isObject(answer)) return null;
  const field = Object.keys(answer).find((name) => name.toLowerCase() === DRAFT_FIELD.toLowerCase());
  if (field === undefined) return typeof answer.prompt === 'string' ? { draft: { value: answer }, beside: {} } : null;
  const { [field]: given, ...beside } = answer;
  const first: unknown = Array.isArray(given) ? given[0] : given;
  const value = typeof first === 'string' ? parseWhole(first) : first;
  // Such as null, or the word "none": there is no task.
  return { draft: isObject(value) ? { value } : null, beside };
}

const countFence = (text: string, at: number): number =>
  FENCE.exec(text.slice(Math.max(0, at - MAX_OPENING), at))?.[0].length ?? 0;

/** The end of the object that begins at `from`; null if it is cut, or nested too deep. */
function findEnd(text: string, from: number): number | null {
  let depth = 0;
  let last = '';
  for (let at = from; at < text.length && at - from < MAX_CHARACTERS; at++) {
    const character = text[at] as string;
    const skipped = skipComment(text, at);
    if (skipped > at) {
      at = skipped - 1;
      continue;
    }
    if (/\s/.test(character)) continue;
    if (character === '"' || (character === "'" && '{[,:'.includes(last))) at = skipString(text, at);
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    if (depth > MAX_DEPTH) return null;
    if (depth === 0) return at + 1;
    last = character;
  }
  return null;
}

/** Returns where the comment at `at` ends, or `at`. */
function skipComment(text: string, at: number): number {
  const end = text.startsWith('//', at) ? '\n' : text.startsWith('/*', at) ? '*/' : null;
  if (end === null) return at;
  const found = text.indexOf(end, at + 2);
  return found === -1 ? text.length : found + end.length;
}

/** Returns where the string that begins at `from` ends. */
function skipString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === text[from]) return at;
  }
  return text.length;
}

/** Also with comments, trailing commas, other quotes and line ends in strings. Undefined if it cannot be read. */
function parseLoosely(text: string): unknown {
  const value = parseJson(text);
  if (value !== undefined || text.length > MAX_REPAIRED) return value;
  try {
    return parseJson(jsonrepair(text));
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
