import type { OutputChange } from '@carillon/db';
import { compareOutputs } from './compare-outputs.ts';
import { compareTexts } from './compare-texts.ts';

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
