import type { DueOccurrences } from '../../schedule/next-run.ts';

/** With `missed: all`, so many of the latest missed instants run. */
const MAX_MADE_UP = 10;
/** Later starts are `late` in the ledger. */
export const LATE_AFTER_MS = 5000;
/** With `missed: none`, an instant that is further behind does not run. */
const MISSED_AFTER_MS = 5 * 60_000;

export interface Policies {
  recurrence: 'once' | 'daily' | 'weekly' | 'monthly';
  missed: 'latest' | 'none' | 'all';
  overlap: 'skip' | 'queue' | 'cancel';
  /** Whether an execution of the task is pending or running. */
  isBusy: boolean;
  /** Whether a planned run waits for another execution; only computed for `overlap: queue`. */
  hasWaiting: boolean;
}

interface DueRuns {
  missed: Date[];
  /** In order of time. */
  runnable: Date[];
  next: Date | null;
}

/** Separates the due instants that may run from those that are missed. A `once` task runs however late it is. */
export function applyMissedPolicy(
  { recurrence, missed: policy }: Policies,
  { missed, latest, next }: DueOccurrences,
  now: Date,
): DueRuns {
  if (policy === 'all' && recurrence !== 'once') {
    const due = latest === null ? missed : [...missed, latest];
    const older = due.slice(0, -MAX_MADE_UP);
    const newest = due.slice(-MAX_MADE_UP);
    // While more instants are to be computed, these may be among the latest, or not.
    if (latest === null) return { missed: older, runnable: [], next: newest[0] ?? next };
    return { missed: older, runnable: newest, next };
  }
  if (latest === null) return { missed, runnable: [], next };
  const isMissed = policy === 'none' && recurrence !== 'once' && now.getTime() - latest.getTime() > MISSED_AFTER_MS;
  if (isMissed) return { missed: [...missed, latest], runnable: [], next };
  return { missed, runnable: [latest], next };
}

/** Of several instants the latest takes the place that is left. */
export function applyOverlapPolicy({ overlap, isBusy, hasWaiting }: Policies, runnable: readonly Date[]) {
  if (!isBusy || overlap === 'cancel') return { runs: runnable, skipped: [] };
  const places = overlap === 'queue' && !hasWaiting ? 1 : 0;
  const taken = Math.max(0, runnable.length - places);
  return { runs: runnable.slice(taken), skipped: runnable.slice(0, taken) };
}
