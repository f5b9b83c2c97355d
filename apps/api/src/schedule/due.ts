import { nextOccurrence, type Schedule } from './recurrence.ts';

/** Due occurrences that one transaction records, in some 20 ms. Those beyond are left to the next transaction. */
export const MAX_DUE_OCCURRENCES = 1000;

export interface DueOccurrences {
  missed: Date[];
  /** The occurrence that runs; null while more missed ones are still to be recorded. */
  latest: Date | null;
  /** The first occurrence after these; null if there is none. */
  next: Date | null;
}

/**
 * Lists up to `limit` occurrences that fell due since the instant `from`. One run makes up for all that were missed; the
 * schedule then goes on with the next one in the future.
 */
export function listDueOccurrences(
  schedule: Schedule,
  from: Date,
  now: Date,
  limit = MAX_DUE_OCCURRENCES,
): DueOccurrences {
  const due: Date[] = [];
  let next: Date | null = from;
  while (next !== null && next <= now && due.length < limit) {
    due.push(next);
    next = nextOccurrence(schedule, next);
  }
  const isComplete = next === null || next > now;
  const latest = isComplete ? (due.pop() ?? null) : null;
  return { missed: due, latest, next };
}
