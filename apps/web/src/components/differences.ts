import type { Texts } from '@carillon/texts';
import { diffLines } from 'diff';
import { type Html, html } from '../html.ts';

/** Longer texts are not compared: the time grows with the square of the differences. */
const MAX_CHARACTERS = 200_000;
const TIMEOUT_MS = 50;
/** Unchanged lines around a change. */
const CONTEXT_LINES = 2;

const splitLines = (text: string) => text.replace(/\n$/, '').split('\n');

/** The differences between two texts by line; null if they are equal or too long to compare. */
export function renderDifferences(before: string, after: string, { runs }: Texts): Html | null {
  if (before === after || before.length + after.length > MAX_CHARACTERS) return null;
  const parts = diffLines(before, after, { timeout: TIMEOUT_MS });
  if (!parts) return null;
  const added = parts.filter((part) => part.added).reduce((sum, { count = 0 }) => sum + count, 0);
  const removed = parts.filter((part) => part.removed).reduce((sum, { count = 0 }) => sum + count, 0);
  return html`<p class="fine muted">${runs.lineChanges(added, removed)}</p>
<div class="diff">${parts.map(({ added, removed, value }) => {
    const lines = splitLines(value);
    if (added) return lines.map((line) => html`<ins>${line}</ins>`);
    if (removed) return lines.map((line) => html`<del>${line}</del>`);
    if (lines.length <= 2 * CONTEXT_LINES + 1) return lines.map((line) => html`<span>${line}</span>`);
    const left = lines.length - 2 * CONTEXT_LINES;
    return [
      ...lines.slice(0, CONTEXT_LINES).map((line) => html`<span>${line}</span>`),
      html`<span>… ${runs.unchangedLines(left)} …</span>`,
      ...lines.slice(-CONTEXT_LINES).map((line) => html`<span>${line}</span>`),
    ];
  })}</div>`;
}
