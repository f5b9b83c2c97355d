import { nextOccurrence, type Schedule } from './recurrence.ts';

/** Planned instants that one transaction settles, in some 20 ms; what was missed beyond them is left to the next one. */
export const INSTANTS_AT_ONCE = 1000;

export interface Due {
  /** Planned instants that the last one of them makes up for. */
  missed: Date[];
  /** The instant that runs; null while more missed ones are to be settled first. */
  latest: Date | null;
  /** What comes after; null when nothing does. */
  next: Date | null;
}

/**
 * What has fallen due of a schedule since its next instant `from`: one run makes up for all that were missed, then
 * comes the next future one (decisions §5). Settles `atMost` of them.
 */
export function dueOccurrences(schedule: Schedule, from: Date, now: Date, atMost = INSTANTS_AT_ONCE): Due {
  const planned: Date[] = [];
  let next: Date | null = from;
  while (next !== null && next <= now && planned.length < atMost) {
    planned.push(next);
    next = nextOccurrence(schedule, next);
  }
  const allSettled = next === null || next > now;
  const latest = allSettled ? (planned.pop() ?? null) : null;
  return { missed: planned, latest, next };
}
