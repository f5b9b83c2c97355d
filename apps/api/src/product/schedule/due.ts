import { nextRun, type Plan } from './next-run.ts';

/** One transaction records this many in some 20 ms; the next transaction records the rest. */
export const MAX_DUE_OCCURRENCES = 1000;

export interface DueOccurrences {
  missed: Date[];
  /** Null while more missed occurrences are still to be recorded. */
  latest: Date | null;
  next: Date | null;
}

/** Lists up to `limit` occurrences due since the instant `from`. One run makes up for all that were missed. */
export function listDueOccurrences(plan: Plan, from: Date, now: Date, limit = MAX_DUE_OCCURRENCES): DueOccurrences {
  const due: Date[] = [];
  let next: Date | null = from;
  while (next !== null && next <= now && due.length < limit) {
    due.push(next);
    next = nextRun(plan, next);
  }
  const isComplete = next === null || next > now;
  const latest = isComplete ? (due.pop() ?? null) : null;
  return { missed: due, latest, next };
}
