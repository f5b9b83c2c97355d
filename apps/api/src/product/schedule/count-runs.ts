import { DAY_MS } from '@carillon/contract/primitives';
import { countRunsLeft, findRun, type Plan } from './next-run.ts';
import { buildSeries } from './recurrence.ts';
import { periodAfter, periodAt } from './time-zone.ts';

const MINUTE_MS = 60_000;

/**
 * Counts the planned runs of each period between two of `boundaries`, which are instants in order, each period without its
 * end. The work grows with the days and the boundaries, not with the runs: on a day without a clock change the minutes of a
 * pattern are counted, not visited.
 */
export function countRuns(plan: Plan, boundaries: readonly number[]): number[] {
  const counts = boundaries.slice(1).map(() => 0);
  const [start = 0] = boundaries;
  const until = Math.min(boundaries.at(-1) ?? 0, plan.endsAt?.getTime() ?? Number.POSITIVE_INFINITY);
  const series = buildSeries(plan);
  let left = countRunsLeft(plan);
  let period = 0;
  const add = (at: number, count: number) => {
    while (at >= (boundaries[period + 1] ?? until)) period += 1;
    const counted = Math.min(count, left);
    counts[period] = (counts[period] ?? 0) + counted;
    left -= counted;
  };

  let after = start - 1;
  while (left > 0) {
    const run = findRun(plan, after);
    if (run === null || run.at >= until) break;
    const offset = run.wall - run.at;
    const midnight = Math.floor(run.wall / DAY_MS) * DAY_MS;
    const dayEnd = midnight + DAY_MS - offset;
    const isRegular = run.at !== plan.scheduledFor.getTime() && offset % MINUTE_MS === 0;
    if (!series?.countBefore || !isRegular || !keepsOffset(plan.timezone, midnight - offset)) {
      add(run.at, 1);
      after = run.at;
      continue;
    }
    const end = Math.min(dayEnd, until);
    const toMinute = (at: number) => Math.ceil((at + offset - midnight) / MINUTE_MS);
    for (let at = run.at; at < end; ) {
      const next = Math.min(end, boundaries.find((boundary) => boundary > at) ?? end);
      add(at, series.countBefore(toMinute(next)) - series.countBefore(toMinute(at)));
      at = next;
    }
    after = end - 1;
  }
  return counts;
}

/** Whether no clock change moves or repeats a time of the day that begins at `at`. */
function keepsOffset(zone: string, at: number): boolean {
  let period = periodAt(zone, at - DAY_MS);
  while (period.until <= at + 2 * DAY_MS) {
    const next = periodAfter(zone, period);
    const shift = Math.abs(next.offset - period.offset);
    if (period.until >= at - shift && period.until <= at + DAY_MS + shift) return false;
    period = next;
  }
  return true;
}
