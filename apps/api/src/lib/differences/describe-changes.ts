import type { OutputChange } from '@carillon/db';
import { getTexts, type Language } from '@carillon/texts';
import { diffByLine } from './diff-texts.ts';

const MAX_LENGTH = 20_000;
/** Of a value in one line. */
const MAX_VALUE_LENGTH = 500;
/** Unchanged lines before and after a change of a text. */
const CONTEXT_LINES = 2;

const SIGNS = { delete: '- ', insert: '+ ', equal: '  ' };

/** A line such as `price: 12.5 → 11.9` for each value; the lines of a text with `-` and `+`. */
export function describeChanges(changes: readonly OutputChange[], language: Language): string {
  const text = changes.map((change) => describeChange(change, language)).join('\n');
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)} […]` : text;
}

function describeChange({ path, from, to }: OutputChange, language: Language): string {
  const texts = getTexts(language).messages;
  if (from === undefined && to === undefined) return texts.moreChanges;
  if (path === '' && typeof from === 'string' && typeof to === 'string') return describeLines(from, to);
  return `${path || texts.wholeAnswer}: ${describeValue(from, language)} → ${describeValue(to, language)}`;
}

/** A value in one line. */
export function describeValue(value: unknown, language: Language): string {
  if (value === undefined) return getTexts(language).messages.missing;
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

/** The lines of a text that changed with `-` and `+`, and a few around them. */
export function describeLines(from: string, to: string): string {
  return diffByLine(`${from}\n`, `${to}\n`)
    .flatMap(({ op, text }) => {
      const lines = text.replace(/\n$/, '').split('\n');
      const isShort = op !== 'equal' || lines.length <= 2 * CONTEXT_LINES + 1;
      const shown = isShort ? lines : [...lines.slice(0, CONTEXT_LINES), '…', ...lines.slice(-CONTEXT_LINES)];
      return shown.map((line) => `${SIGNS[op]}${line}`);
    })
    .join('\n');
}
