import type { Texts } from '@carillon/texts';
import { type Html, html } from '../../html.ts';
import { MAX_COMPARED, renderDifferences } from '../differences.ts';
import { readLines } from './markdown.ts';

/** How an answer differs from an earlier one, in what is read of them. */
export function renderAnswerDifferences(before: string, after: string, texts: Texts): Html {
  const say = (text: string) => html`<p class="muted">${text}</p>`;
  if (before === after) return say(texts.runs.sameAnswer);
  if (before.length + after.length > MAX_COMPARED) return say(texts.runs.tooLong);
  const [linesBefore, linesAfter] = [readLines(before), readLines(after)];
  const isSame = linesBefore.length === linesAfter.length && linesBefore.every((line, at) => line === linesAfter[at]);
  return isSame ? say(texts.runs.otherFormat) : renderDifferences(linesBefore, linesAfter, texts);
}
