import { findOccurrence, nextOccurrence, type Schedule } from './recurrence.ts';
import type { Occurrence } from './time-zone.ts';

/** What a task adds to its schedule. A field that is left out is null. */
export interface RunLimits {
  /** No run is planned at this instant or later. */
  endsAt: Date | null;
  maxRuns: number | null;
  /** The runs that count against `maxRuns`. */
  plannedRuns: number;
  /** No run is planned before this instant. */
  pausedUntil: Date | null;
}

export type Plan = Schedule & Partial<RunLimits>;

/** The first planned run after an instant; null if none follows. Throws like `nextOccurrence`. */
export function nextRun(plan: Plan, after: Date): Date | null {
  const found = findRun(plan, after.getTime());
  return found === null ? null : new Date(found.at);
}

export function findRun(plan: Plan, after: number): Occurrence | null {
  if (countRunsLeft(plan) <= 0) return null;
  const { endsAt = null, pausedUntil = null } = plan;
  const found = findOccurrence(plan, pausedUntil === null ? after : Math.max(after, pausedUntil.getTime() - 1));
  return found !== null && (endsAt === null || found.at < endsAt.getTime()) ? found : null;
}

export function countRunsLeft({ maxRuns = null, plannedRuns = 0 }: Plan): number {
  return maxRuns === null ? Number.POSITIVE_INFINITY : Math.max(0, maxRuns - plannedRuns);
}

/** The field that leaves no run after an instant; null if there is one. */
export function findEnd(plan: Plan, after: Date): 'scheduledFor' | 'maxRuns' | 'endsAt' | 'pausedUntil' | null {
  if (nextRun(plan, after) !== null) return null;
  if (nextOccurrence(plan, after) === null) return 'scheduledFor';
  if (countRunsLeft(plan) <= 0) return 'maxRuns';
  return nextRun({ ...plan, pausedUntil: null }, after) === null ? 'endsAt' : 'pausedUntil';
}

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
