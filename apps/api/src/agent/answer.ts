import { toOneLine } from '@carillon/db/storable-text';

export interface AgentAnswer {
  content: string;
  suggestions: string[];
}

const MAX_SUGGESTIONS = 5;
const MAX_SUGGESTION_CHARACTERS = 200;
const DECORATION = '*_`#>~=-';
/** Some models answer in JSON, fenced or not, although they are not asked to. */
const JSON_ANSWER = /^(?:```(?:json)?\s*)?\{\s*"(?:content|suggestions)"/i;
const JSON_ANSWER_START = /^(?:`{0,3}|```j?s?o?n?\s*|(?:```(?:json)?\s*)?\{\s*(?:"[a-z]*"?)?)$/i;

export const toMarkerLine = (marker: string): string => `=== ${marker} ===`;

/** `marker` is random for each call. Without it everything is content, unless it is JSON with these fields. */
export function parseAnswer(text: string, marker: string): AgentAnswer {
  const found = new RegExp(marker, 'i').exec(text);
  if (!found) return parseJsonAnswer(text) ?? { content: removePartialMarker(text, marker).trim(), suggestions: [] };
  const content = removeMarkerLine(text.slice(0, found.index)).trim();
  const rest = text.slice(found.index + marker.length).replace(/^[ \t*_`#>~=-]+/, '');
  // The model started with the marker: the answer follows it.
  if (content === '') return { content: removeMarkerLines(rest, marker).join('\n').trim(), suggestions: [] };
  return { content, suggestions: cleanSuggestions(parseSuggestions(removeMarkerLines(rest, marker))) };
}

/** Removes the decoration before the marker, and the rest of its line unless that contains text. */
function removeMarkerLine(text: string): string {
  const from = skipDecorationBefore(text, text.length);
  const end = [text.indexOf('\n', from), text.indexOf('===', from)].find((at) => at !== -1);
  return text.slice(0, end);
}

function parseJsonAnswer(text: string): AgentAnswer | null {
  if (!JSON_ANSWER.test(text.trimStart())) return null;
  const { content, suggestions } = (parseJson(text) ?? {}) as Record<string, unknown>;
  if (typeof content !== 'string' || !Array.isArray(suggestions)) return null;
  // JSON escapes can contain lone surrogates.
  return { content: content.toWellFormed().trim(), suggestions: cleanSuggestions(suggestions) };
}

/** The token limit may cut the marker short. */
function removePartialMarker(text: string, marker: string): string {
  const at = text.lastIndexOf('\n');
  const partial = /^[\s*_`]*={3,}[ \t]*(\w*)$/.exec(text.slice(at + 1))?.[1];
  return partial !== undefined && marker.startsWith(partial.toLowerCase()) ? text.slice(0, at + 1) : text;
}

const removeMarkerLines = (text: string, marker: string) =>
  text.split(/\r?\n/).filter((line) => !line.toLowerCase().includes(marker));

function parseSuggestions(lines: readonly string[]): readonly unknown[] {
  const parsed = parseJson(lines.join('\n'));
  const listed = Array.isArray(parsed) ? parsed : (parsed as Record<string, unknown> | null)?.suggestions;
  return Array.isArray(listed) ? listed : lines;
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
    const isHeading = text.endsWith(':') || !/[\p{L}\p{N}]/u.test(text);
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

/** Holds back what may be the marker: the streamed text is always a prefix of `parseAnswer`'s content. */
export function createContentStream(marker: string, onContent: (text: string) => void) {
  let held = '';
  let sent = 0;
  let state: 'start' | 'content' | 'ended' = 'start';
  const send = (text: string) => {
    if (text === '') return;
    sent += text.length;
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
      const found = new RegExp(marker, 'i').exec(held);
      if (found) state = 'ended';
      const end = skipDecorationBefore(held, found ? found.index : held.length - countPartialMarker(held, marker));
      send(held.slice(0, end));
      held = held.slice(end);
    },
    end: (content: string) => send(content.slice(sent)),
  };
}

/** How many of the last characters may be the start of the marker. */
function countPartialMarker(text: string, marker: string): number {
  for (let length = Math.min(text.length, marker.length - 1); length > 0; length--) {
    if (marker.startsWith(text.slice(-length).toLowerCase())) return length;
  }
  return 0;
}

function skipDecorationBefore(text: string, end: number): number {
  let at = end;
  while (at > 0 && isDecoration(text[at - 1] as string)) at--;
  return at;
}

const isDecoration = (character: string) => DECORATION.includes(character) || /\s/.test(character);
