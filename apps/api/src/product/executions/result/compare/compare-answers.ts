import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { OutputChange } from '@carillon/db';
import { compareOutputs } from './compare-outputs.ts';

export interface Answer {
  text: string;
  /** Null without an output schema. */
  output: unknown;
}

/**
 * Lists how an answer differs from an earlier one. With an output its values are compared, and those of an earlier answer
 * without one are missing; without an output, and if the outputs are too large, the texts.
 */
export function compareAnswers(before: Answer, after: Answer, watch: readonly string[]): OutputChange[] {
  const changes = after.output === null ? null : compareOutputs(before.output ?? undefined, after.output, watch);
  return changes ?? compareTexts(before.text, after.text);
}

const MAX_LENGTH = 2000;
/** How much of the equal beginning of long texts is kept. */
const KEPT_BEFORE = 200;

const foldSpace = (text: string) => text.trim().replace(/\s+/g, ' ');

/** Compares texts with their white space folded. Of long texts the change has the place of the first difference. */
export function compareTexts(from: string, to: string): OutputChange[] {
  if (foldSpace(from) === foldSpace(to)) return [];
  const length = Math.max(from.length, to.length);
  let same = 0;
  while (same < length && from.charCodeAt(same) === to.charCodeAt(same)) same++;
  const start = length > MAX_LENGTH ? Math.max(0, same - KEPT_BEFORE) : 0;
  const cut = (text: string) => {
    const kept = toStorableText(text.slice(start).replace(/^[\uDC00-\uDFFF]/, ''), MAX_LENGTH);
    return `${start > 0 ? '…' : ''}${kept}${text.length - start > MAX_LENGTH ? '…' : ''}`;
  };
  return [{ path: '', from: cut(from), to: cut(to), ...(length > MAX_LENGTH && { cut: true }) }];
}
