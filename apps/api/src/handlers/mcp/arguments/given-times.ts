import { TimeZone } from '@carillon/contract/primitives';
import { FORMATS } from '@carillon/contract/validation/formats';
import { Type } from '@sinclair/typebox';
import type { Caller } from '../../../context.ts';
import { invalidField } from '../../../errors.ts';
import { readLocalTime, startOfDay } from '../../../product/schedule/time-zone.ts';
import { formatMoment } from '../answers/moments.ts';

const EXAMPLE = '2026-11-27T17:00';

/** Models are bad at offsets, so tools also take what a clock shows. */
export const GivenTime = Type.String({
  maxLength: 40,
  description: `Local time in \`timezone\`, such as ${EXAMPLE}, or ISO 8601 with an offset`,
});

export const GivenTimeZone = Type.Optional({ ...TimeZone, description: "IANA name. Default: the user's" });

/** The time zone of arguments without one. Throws 400 if the account has none. */
export function chooseTimeZone(given: string | undefined, { timezone }: Pick<Caller, 'timezone'>): string {
  const chosen = given ?? timezone;
  if (chosen !== null) return chosen;
  throw invalidField(
    'timezone',
    'is needed, because the account has no time zone. Ask the user for theirs, such as Europe/Lisbon',
  );
}

/** An argument as the contract has it: an instant with an offset. */
interface ReadTime {
  instant: string;
  /** Set if clocks skip or repeat the given time. */
  note?: string;
}

/** Throws 400 for a text that is no time. */
export function readTime(field: string, text: string, timezone: string): ReadTime {
  if (FORMATS['date-time']?.accepts(text)) return { instant: text };
  const read = readLocalTime(timezone, text);
  const instant = read?.at.toISOString() ?? '';
  if (!read || !FORMATS['date-time']?.accepts(instant)) {
    throw invalidField(field, `must be a local time such as ${EXAMPLE}, or an ISO 8601 date-time with an offset`);
  }
  if (read.deviation === null) return { instant };
  const why =
    read.deviation === 'skipped'
      ? `the clocks go forward past it, so it is read as ${formatMoment(read.at, timezone)}`
      : 'the clocks go back and show it twice; the first time is meant';
  return { instant, note: `${field} ${text}: ${why}.` };
}

/** Replaces the fields that are given as local times. `notes` says what clock changes do to them. */
export function readTimes<T extends object, K extends keyof T & string>(
  input: T,
  fields: readonly K[],
  timezone: string,
): { input: T; notes: string[] } {
  const notes: string[] = [];
  const read = fields.flatMap((field) => {
    const text = input[field];
    if (typeof text !== 'string') return [];
    const { instant, note } = readTime(field, text, timezone);
    if (note !== undefined) notes.push(note);
    return [[field, instant]];
  });
  return { input: { ...input, ...Object.fromEntries(read) }, notes };
}

/** Whether a text is a time only together with a time zone. */
export const isLocal = (text: unknown): boolean => typeof text === 'string' && !FORMATS['date-time']?.accepts(text);

/** The beginning of a day for `startDate`, the end of one for `endDate`, or a time. Throws 400. */
export function readDay(field: 'startDate' | 'endDate', text: string, timezone: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return readTime(field, text, timezone).instant;
  const next = field === 'endDate';
  const start = startOfDay(timezone, text, next ? 1 : 0);
  const instant = start && new Date(start.getTime() - (next ? 1 : 0)).toISOString();
  if (instant === null || !FORMATS['date-time']?.accepts(instant)) {
    throw invalidField(field, 'must be a day such as 2026-11-20, or a time');
  }
  return instant;
}
