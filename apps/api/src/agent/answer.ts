import { toOneLine } from '@carillon/db/storable-text';

/** What the user is shown of what a model wrote. */
export interface AgentAnswer {
  content: string;
  suggestions: string[];
}

const MOST_SUGGESTIONS = 5;
const LONGEST_SUGGESTION = 200;
/** What models put around a line that they want to stand out, and around the marker. */
const DECORATION = '*_`#>~=-';
/** An answer that is JSON as a whole, fenced or not, as models write it that were trained to. */
const WRAPPED = /^(?:```(?:json)?\s*)?\{\s*"(?:content|suggestions)"/i;
const PERHAPS_WRAPPED = /^(?:`{0,3}|```j?s?o?n?\s*|(?:```(?:json)?\s*)?\{\s*(?:"[a-z]*"?)?)$/i;

/** The line that a model is asked to put between its answer and the suggestions. */
export const markerLine = (marker: string): string => `=== ${marker} ===`;

/**
 * Parts what a model wrote into content and suggestions (decisions §7). `marker`: hexadecimal digits, random for each
 * call, so that nobody's text can hold them by intent. Never throws: without the marker all is content, unless it is
 * JSON that says otherwise.
 */
export function readAnswer(text: string, marker: string): AgentAnswer {
  const found = new RegExp(marker, 'i').exec(text);
  if (!found) return readWrapped(text) ?? { content: withoutBegunMarker(text, marker).trim(), suggestions: [] };
  const content = withoutLastLine(text.slice(0, found.index)).trim();
  const rest = text.slice(found.index + marker.length).replace(/^[ \t*_`#>~=-]+/, '');
  // A model that began with the marker has written its answer behind it.
  if (content === '') return { content: withoutMarkers(rest, marker).join('\n').trim(), suggestions: [] };
  return { content, suggestions: chooseSuggestions(listSuggestions(withoutMarkers(rest, marker))) };
}

/** Cuts off what belongs to the marker before it: the decoration of its line, or its own where text stands there too. */
function withoutLastLine(text: string): string {
  const from = undecorated(text, text.length);
  const end = [text.indexOf('\n', from), text.indexOf('===', from)].find((at) => at !== -1);
  return text.slice(0, end);
}

function readWrapped(text: string): AgentAnswer | null {
  if (!WRAPPED.test(text.trimStart())) return null;
  const { content, suggestions } = (parse(text) ?? {}) as Record<string, unknown>;
  if (typeof content !== 'string' || !Array.isArray(suggestions)) return null;
  // In JSON half a character can be written that no stream of text can bring.
  return { content: content.toWellFormed().trim(), suggestions: chooseSuggestions(suggestions) };
}

/** The token limit may cut the marker itself off. */
function withoutBegunMarker(text: string, marker: string): string {
  const at = text.lastIndexOf('\n');
  const begun = /^[\s*_`]*={3,}[ \t]*(\w*)$/.exec(text.slice(at + 1))?.[1];
  return begun !== undefined && marker.startsWith(begun.toLowerCase()) ? text.slice(0, at + 1) : text;
}

const withoutMarkers = (text: string, marker: string) =>
  text.split(/\r?\n/).filter((line) => !line.toLowerCase().includes(marker));

function listSuggestions(lines: readonly string[]): readonly unknown[] {
  const parsed = parse(lines.join('\n'));
  const listed = Array.isArray(parsed) ? parsed : (parsed as Record<string, unknown> | null)?.suggestions;
  return Array.isArray(listed) ? listed : lines;
}

/** The JSON that a text is, fenced or not; null where it is none. */
function parse(text: string): unknown {
  const [, inner = text] = /^\s*```\w*\s([\s\S]*?)```\s*$/.exec(text) ?? [];
  try {
    return JSON.parse(inner);
  } catch {
    return null;
  }
}

const withoutBullet = (line: string) =>
  line
    .trim()
    .replace(/^(?:[-*>#]+\s+|[•–—·]\s*|-(?=\p{L})|\(?\d{1,2}[.)]\s+|\[[ x]?\]\s+)+/u, '')
    .replace(/,$/, '');

function chooseSuggestions(given: readonly unknown[]): string[] {
  const chosen = new Map<string, string>();
  for (const one of given) {
    const text = typeof one === 'string' ? withoutQuotes(withoutBullet(toOneLine(one.toWellFormed()))) : '';
    const key = text.toLowerCase();
    const isHeading = text.endsWith(':') || !/[\p{L}\p{N}]/u.test(text);
    if (isHeading || [...text].length > LONGEST_SUGGESTION || chosen.has(key)) continue;
    chosen.set(key, text);
  }
  return [...chosen.values()].slice(0, MOST_SUGGESTIONS);
}

const QUOTED =
  /^(?:\*\*([^*]+)\*\*|__([^_]+)__|"([^"]+)"|'([^']+)'|`([^`]+)`|[“„]([^“”]+)[”“]|«([^»]+)»|「([^」]+)」)$/u;

function withoutQuotes(text: string): string {
  const inner = QUOTED.exec(text)
    ?.slice(1)
    .find((found) => found !== undefined);
  return inner === undefined ? text : withoutQuotes(inner.trim());
}

/**
 * Hands on the content of an answer while it comes. What may yet turn out to be the marker, or the space before it, is
 * held back: what has been handed on is always the beginning of what `readAnswer` makes of the whole.
 */
export function contentOf(marker: string, handOn: (text: string) => void) {
  let held = '';
  let given = 0;
  let state: 'begun' | 'content' | 'over' = 'begun';
  const give = (text: string) => {
    if (text === '') return;
    given += text.length;
    handOn(text);
  };
  return {
    add(delta: string) {
      if (state === 'over') return;
      held += delta;
      if (state === 'begun') {
        held = held.trimStart();
        if (PERHAPS_WRAPPED.test(held)) return;
        state = WRAPPED.test(held) ? 'over' : 'content';
        if (state === 'over') return;
      }
      const found = new RegExp(marker, 'i').exec(held);
      if (found) state = 'over';
      const end = undecorated(held, found ? found.index : held.length - begunMarker(held, marker));
      give(held.slice(0, end));
      held = held.slice(end);
    },
    /** Hands on what is left of `content`, which `readAnswer` has made of the whole. */
    end: (content: string) => give(content.slice(given)),
  };
}

/** How many of the last characters may be the beginning of the marker. */
function begunMarker(text: string, marker: string): number {
  for (let length = Math.min(text.length, marker.length - 1); length > 0; length--) {
    if (marker.startsWith(text.slice(-length).toLowerCase())) return length;
  }
  return 0;
}

function undecorated(text: string, end: number): number {
  let at = end;
  while (at > 0 && isDecoration(text[at - 1] as string)) at--;
  return at;
}

const isDecoration = (character: string) => DECORATION.includes(character) || /\s/.test(character);
