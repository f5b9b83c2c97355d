import type { Texts } from '@carillon/texts';
import { diffArrays, diffWordsWithSpace } from 'diff';
import { type Html, html } from '../html.ts';

/** Longer texts are not compared: the time grows with the square of the differences. */
export const MAX_COMPARED = 200_000;
const LIMITS = { timeout: 50 };
const WORD_LIMITS = { maxEditLength: 400, timeout: 10 };
/** Unchanged lines around a change. */
const CONTEXT_LINES = 2;
/** How many removed lines one that was added may stand for. */
const REACH = 5;

interface Line {
  kind: 'same' | 'added' | 'removed' | 'changed';
  content: string | Html;
}

/** The differences between two texts: lines, with the words that changed inside them. What is the same is folded. */
export function renderDifferences(before: readonly string[], after: readonly string[], { runs }: Texts): Html {
  const parts = diffArrays([...before], [...after], LIMITS);
  if (!parts) return html`<p class="muted">${runs.tooLong}</p>`;
  const groups: Line[][] = [];
  for (const [at, { added, removed, value }] of parts.entries()) {
    if (!added && !removed) groups.push(value.map((content) => ({ kind: 'same', content })));
    else if (removed) groups.push(compareLines(value, parts[at + 1]?.added ? parts[at + 1]!.value : []));
    else if (!parts[at - 1]?.removed) groups.push(value.map((content) => ({ kind: 'added', content })));
  }
  const lines = groups.flat();
  const count = (kind: Line['kind']) => lines.filter((line) => line.kind === kind).length;
  return html`<p class="fine muted">${runs.lineChanges(count('changed'), count('added'), count('removed'))}</p>
<div class="diff">${groups.map((group, at) => renderGroup(group, at === 0, at === groups.length - 1, runs))}</div>`;
}

function renderGroup(group: readonly Line[], isFirst: boolean, isLast: boolean, { unchangedLines }: Texts['runs']) {
  const start = isFirst ? 0 : CONTEXT_LINES;
  const end = Math.max(start, group.length - (isLast ? 0 : CONTEXT_LINES));
  const folded = group.slice(start, end);
  if (group[0]?.kind !== 'same' || folded.length < 2) return group.map(renderLine);
  return html`${group.slice(0, start).map(renderLine)}<details><summary>${unchangedLines(folded.length)}</summary>${folded.map(renderLine)}</details>${group.slice(end).map(renderLine)}`;
}

function renderLine({ kind, content }: Line): Html {
  switch (kind) {
    case 'same':
      return html`<span>${content}</span>`;
    case 'changed':
      return html`<span class="changed-line">${content}</span>`;
    case 'added':
      return html`<ins>${content}</ins>`;
    case 'removed':
      return html`<del>${content}</del>`;
  }
}

/** A removed line and the next added one that is like it are one line that changed. */
function compareLines(removed: readonly string[], added: readonly string[]): Line[] {
  const lines: Line[] = [];
  let waiting: Line[] = [];
  let next = 0;
  const removeUntil = (end: number) => {
    for (const content of removed.slice(next, end)) lines.push({ kind: 'removed', content });
    lines.push(...waiting);
    waiting = [];
  };
  for (const after of added) {
    const near = removed.slice(next, next + REACH);
    const at = near.findIndex((before) => isAlike(before, after));
    const content = at < 0 ? null : renderWords(near[at]!, after);
    if (content === null) waiting.push({ kind: 'added', content: after });
    else {
      removeUntil(next + at);
      lines.push({ kind: 'changed', content });
      next += at + 1;
    }
  }
  removeUntil(removed.length);
  return lines;
}

const readWords = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether at least half of the words are in both. */
function isAlike(before: string, after: string): boolean {
  const words = readWords(before);
  const others = readWords(after);
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const shared = others.filter((word) => {
    const left = counts.get(word) ?? 0;
    counts.set(word, left - 1);
    return left > 0;
  });
  return shared.length > 0 && shared.length * 4 >= words.length + others.length;
}

function renderWords(before: string, after: string): Html | null {
  const parts = diffWordsWithSpace(before, after, WORD_LIMITS);
  return parts
    ? html`${parts.map(({ added, removed, value }) =>
        added ? html`<ins>${value}</ins>` : removed ? html`<del>${value}</del>` : value,
      )}`
    : null;
}
