const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Longer than what readers see as one character, but for texts made to break this. */
const WINDOW = 64;

/** The beginning of a text, at most so many UTF-16 units long, which ends with a whole character as readers see it. */
export function takeCharacters(text: string, length: number): string {
  if (text.length <= length) return text;
  const from = Math.max(0, length - WINDOW);
  const start = from > 0 && isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from;
  const near = text.slice(start, length + WINDOW).toWellFormed();
  let end = start;
  for (const { index, segment } of segmenter.segment(near)) {
    if (start + index + segment.length > length) break;
    end = start + index + segment.length;
  }
  // A character longer than the window: at least no half of a surrogate pair.
  if (end === start) end = isLowSurrogate(text.charCodeAt(length)) ? length - 1 : length;
  return text.slice(0, Math.max(0, end));
}

/** The text, or its beginning with `…`, so that `measure` (default: UTF-16 units) gives at most `max`. */
export function cutText(text: string, max: number, measure: (text: string) => number = (one) => one.length): string {
  if (measure(text) <= max) return text;
  let best = '';
  let low = 0;
  let high = Math.min(text.length, 2 * max);
  while (low <= high) {
    const middle = (low + high) >> 1;
    const candidate = `${takeCharacters(text, middle).trimEnd()}…`;
    if (measure(candidate) <= max) {
      best = candidate;
      low = middle + 1;
    } else high = middle - 1;
  }
  return best;
}

export const countCodePoints = (text: string) => {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if (isLowSurrogate(text.charCodeAt(at))) pairs++;
  return text.length - pairs;
};

export const countBytes = (text: string) => Buffer.byteLength(text);

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

/** All control characters but tab and line feed. */
const CONTROLS = /[\p{Cc}\u2028\u2029]/gu;
/** Marks that change the direction of the text around them, so that it reads as something else. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Leaves out control characters, marks of direction and halves of characters. Line ends are `\n`. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(CONTROLS, (one) => (one === '\n' || one === '\t' ? one : ''))
    .replace(DIRECTIONS, '');
}

/** Like `cleanText`, in one line without space around it. */
export const cleanLine = (text: string) => cleanText(text).replace(/\s+/g, ' ').trim();
