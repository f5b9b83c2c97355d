import { DAY_MS } from '@carillon/contract/primitives';
import type { QuietHours } from '@carillon/db';
import { firstOccurrenceAfter, periodAt, type Series } from '../../../schedule/time-zone.ts';

export interface Holding {
  quiet: QuietHours | null;
  minIntervalMinutes: number | null;
  digest: 'off' | 'hourly' | 'daily';
  digestHour: number | null;
  digestTimezone: string | null;
  lastSentAt: Date | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MINUTES = 24 * 60;
const DEFAULT_DIGEST_HOUR = 8;

/** When a channel may send what it has held since `heldSince`: at `now` or later. */
export function computeReleaseAt(channel: Holding, heldSince: Date, now: Date): Date {
  const at = Math.max(now.getTime(), endOfInterval(channel), endOfDigest(channel, heldSince.getTime()));
  return new Date(channel.quiet === null ? at : endOfQuietHours(channel.quiet, at));
}

const endOfInterval = ({ lastSentAt, minIntervalMinutes }: Holding): number =>
  lastSentAt === null || minIntervalMinutes === null ? 0 : lastSentAt.getTime() + minIntervalMinutes * MINUTE_MS;

/** A digest that was due while no process ran is not put off to the next hour or day. */
function endOfDigest({ digest, digestHour, digestTimezone }: Holding, since: number): number {
  if (digest === 'off') return 0;
  const series = digest === 'hourly' ? EVERY_HOUR : everyDayAt(digestHour ?? DEFAULT_DIGEST_HOUR);
  return firstOccurrenceAfter(series, digestTimezone ?? 'UTC', since)?.at ?? since;
}

const EVERY_HOUR: Series = {
  next: (wall) => (Math.floor(wall / HOUR_MS) + 1) * HOUR_MS,
  firesEveryHour: true,
};

const everyDayAt = (hour: number): Series => ({
  next: (wall) => (Math.floor((wall - hour * HOUR_MS) / DAY_MS) + 1) * DAY_MS + hour * HOUR_MS,
  firesEveryHour: false,
});

/**
 * The first instant from `at` on whose local time is not quiet. A change of the clock may end the quiet hours, or bring them
 * back for as long as it repeats them. Equal times are no quiet hours.
 */
export function endOfQuietHours(quiet: QuietHours, at: number): number {
  const [from, to] = [toMinutes(quiet.from), toMinutes(quiet.to)];
  for (let instant = at; ; ) {
    const { offset, until } = periodAt(quiet.timezone, instant);
    const minutes = modulo((instant + offset) / MINUTE_MS, DAY_MINUTES);
    const isQuiet = from <= to ? from <= minutes && minutes < to : from <= minutes || minutes < to;
    if (!isQuiet) return instant;
    instant = Math.min(until, instant + modulo(to - minutes, DAY_MINUTES) * MINUTE_MS);
  }
}

const toMinutes = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

const modulo = (value: number, by: number): number => ((value % by) + by) % by;
