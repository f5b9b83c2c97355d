import { toStorableText } from '@carillon/contract/validation/storable-text';
import type { Candidate } from '../pipeline/claims/select-runnable.ts';
import type { CompletedExecution } from '../pipeline/execution-result.ts';
import { MAX_SENT } from '../request/system-message.ts';
import { digestText } from './digest.ts';

/** Gives candidates the success that this transaction writes: their task's row has the one before until its end. */
export function followSuccesses(
  candidates: readonly Candidate[],
  completed: readonly CompletedExecution[],
): readonly Candidate[] {
  const successes = new Map(completed.filter(({ result }) => result.ok).map((success) => [success.taskId, success]));
  if (successes.size === 0) return candidates;
  return candidates.map((candidate) => {
    const success = successes.get(candidate.taskId);
    return success ? follow(candidate, success) : candidate;
  });
}

function follow(candidate: Candidate, { id, completedAt, result }: CompletedExecution): Candidate {
  if (!result.ok) return candidate;
  const isSent = candidate.context.previousResult || candidate.prompt.includes('{{previous_result}}');
  return {
    ...candidate,
    lastSuccessId: id,
    lastSuccessDigest: digestText(result.text),
    lastSuccessAt: completedAt.toISOString(),
    previousResult: isSent ? toStorableText(result.text, MAX_SENT) : null,
  };
}
