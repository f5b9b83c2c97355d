import type { OutputChange } from '@carillon/db';
import { getTexts, type Language } from '@carillon/texts';
import { describeLines } from '../../../../lib/differences/describe-changes.ts';
import { cleanLine, cleanText, cutText } from '../format/text.ts';

const MAX_ROWS = 20;
const MAX_LINES = 40;
const MAX_VALUE_LENGTH = 200;
const MAX_LINE_LENGTH = 300;

interface ChangedValue {
  path: string;
  /** Null if there was no such value. */
  before: string | null;
  /** Null if there is no such value any more. */
  after: string | null;
}

export interface ChangedLine {
  op: 'delete' | 'insert' | 'equal';
  text: string;
}

export interface ShownChanges {
  values: ChangedValue[];
  lines: ChangedLine[];
  /** Whether there are more changes than these. */
  hasMore: boolean;
}

/**
 * Prepares what changed for a mail, which `share` messages have in common: values as a table, a whole text by its lines.
 */
export function prepareChanges(changes: readonly OutputChange[], language: Language, share = 1): ShownChanges {
  const texts = getTexts(language).messages;
  const ofShare = (max: number) => Math.max(3, Math.floor(max / share));
  const [maxRows, maxLines] = [ofShare(MAX_ROWS), ofShare(MAX_LINES)];
  const shown: ShownChanges = { values: [], lines: [], hasMore: changes.length > maxRows };
  for (const { path, from, to } of changes.slice(0, maxRows)) {
    if (from === undefined && to === undefined) shown.hasMore = true;
    else if (path === '' && typeof from === 'string' && typeof to === 'string') {
      shown.lines.push(...describeLines(cleanText(from), cleanText(to)).split('\n').map(readLine));
    } else
      shown.values.push({
        path: toShort(path) || texts.wholeAnswer,
        before: toValue(from, texts.empty),
        after: toValue(to, texts.empty),
      });
  }
  if (shown.lines.length > maxLines) {
    shown.hasMore = true;
    shown.lines.length = maxLines;
  }
  return shown;
}

const toShort = (text: string) => cutText(cleanLine(text.slice(0, 2000)), MAX_VALUE_LENGTH);

function toValue(value: unknown, empty: string): string | null {
  if (value === undefined) return null;
  return toShort(typeof value === 'string' ? value : JSON.stringify(value)) || empty;
}

function readLine(line: string): ChangedLine {
  const op = line.startsWith('-') ? 'delete' : line.startsWith('+') ? 'insert' : 'equal';
  return { op, text: cutText(line.slice(2), MAX_LINE_LENGTH) };
}
