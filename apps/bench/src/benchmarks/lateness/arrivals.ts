import { type Arrival, monotonicMs } from '../../../../../test/system/servers/ai-server.ts';

/**
 * What to add to `monotonicMs()` for the wall clock, in milliseconds with fractions: `Date.now()` has none. Takes up to a
 * millisecond.
 */
export function readWallClockOffset(): number {
  const before = Date.now();
  let now = before;
  while (now === before) now = Date.now();
  return now - monotonicMs();
}

/**
 * The lateness in milliseconds of each prompt that arrived. An AI call may be repeated; the first time counts. `toDueAt`
 * returns the planned instant by the wall clock.
 */
export function toLateness(
  arrivals: readonly Pick<Arrival, 'prompt' | 'monotonicMs'>[],
  toDueAt: (prompt: string) => number,
  offset: number,
): number[] {
  const first = new Map<string, number>();
  for (const { prompt, monotonicMs } of arrivals) {
    first.set(prompt, Math.min(monotonicMs, first.get(prompt) ?? monotonicMs));
  }
  return [...first].map(([prompt, arrivedAt]) => arrivedAt + offset - toDueAt(prompt));
}
