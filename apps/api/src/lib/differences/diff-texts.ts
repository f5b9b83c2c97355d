import { diffArrays } from 'diff';

/** Together. Longer texts are compared by line, because the time grows with the square of the differences. */
const MAX_LENGTH_OF_WORDS = 40_000;
/** Together. Of longer texts all between their equal ends counts as replaced. */
const MAX_LENGTH = 200_000;
const LIMITS = { maxEditLength: 2000, timeout: 20 };

const WORDS = /\s+|\S+/g;
const LINES = /[^\n]*\n|[^\n]+/g;

export interface TextPart {
  op: 'equal' | 'insert' | 'delete';
  text: string;
}

/** The differences by word, or by line of long texts. The parts in order are both texts. */
export function diffTexts(before: string, after: string): TextPart[] {
  const start = countEqual(before, after);
  const end = countEqualAtEnd(before, after, Math.min(before.length, after.length) - start);
  const from = before.slice(start, before.length - end);
  const to = after.slice(start, after.length - end);
  const all = [
    { op: 'equal' as const, text: before.slice(0, start) },
    ...diffMiddle(from, to),
    { op: 'equal' as const, text: before.slice(before.length - end) },
  ];
  const parts: TextPart[] = [];
  for (const { op, text } of all) {
    const last = parts.at(-1);
    if (last?.op === op) last.text += text;
    else if (text !== '') parts.push({ op, text });
  }
  return parts;
}

function diffMiddle(from: string, to: string): TextPart[] {
  const length = from.length + to.length;
  return (
    (length <= MAX_LENGTH_OF_WORDS && diffTokens(from, to, WORDS)) ||
    (length <= MAX_LENGTH && diffTokens(from, to, LINES)) || [
      { op: 'delete', text: from },
      { op: 'insert', text: to },
    ]
  );
}

/** The lines of two short texts, such as those of a change. */
export const diffByLine = (before: string, after: string): TextPart[] =>
  diffTokens(before, after, LINES) ?? [
    { op: 'delete', text: before },
    { op: 'insert', text: after },
  ];

function diffTokens(from: string, to: string, token: RegExp): TextPart[] | undefined {
  const parts = diffArrays(from.match(token) ?? [], to.match(token) ?? [], LIMITS);
  return parts?.map(({ added, removed, value }) => ({
    op: added ? 'insert' : removed ? 'delete' : 'equal',
    text: value.join(''),
  }));
}

/** Up to the end of a word, so that no word is cut. */
function countEqual(a: string, b: string): number {
  let same = 0;
  while (same < a.length && same < b.length && a.charCodeAt(same) === b.charCodeAt(same)) same++;
  if (same === a.length && same === b.length) return same;
  while (same > 0 && !isSpace(a.charCodeAt(same - 1))) same--;
  return same;
}

function countEqualAtEnd(a: string, b: string, limit: number): number {
  let same = 0;
  while (same < limit && a.charCodeAt(a.length - 1 - same) === b.charCodeAt(b.length - 1 - same)) same++;
  while (same > 0 && !isSpace(a.charCodeAt(a.length - same))) same--;
  return same;
}

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13);
