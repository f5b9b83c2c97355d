import { Instant } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { toLocalTime } from '../../../product/executions/request/local-time.ts';
import type { PreviewedOccurrence } from '../../../product/schedule/preview.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** Such as `Friday 27 November 2026, 17:00 Europe/Lisbon`: models are better at words than at offsets. */
export function formatMoment(at: Date, timezone: string): string {
  const { weekday, date, time, zone } = toLocalTime(timezone, at.getTime());
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  return `${weekday} ${day} ${MONTHS[month - 1]} ${year}, ${time} ${zone}`;
}

/** An instant of an answer. */
export const Moment = Type.Object({ at: Instant, local: Type.String() });

export const toMoment = (at: Date, timezone: string) => ({ at, local: formatMoment(at, timezone) });

export const PlannedRun = Type.Object({ ...Moment.properties, note: Type.Optional(Type.String()) });

export const toPlannedRuns = (occurrences: readonly PreviewedOccurrence[], timezone: string) =>
  occurrences.map(({ at, note }) => ({ ...toMoment(at, timezone), ...(note !== undefined && { note }) }));

export const describeRuns = (runs: ReturnType<typeof toPlannedRuns>): string[] =>
  runs.length === 0
    ? ['No run is planned.']
    : ['Next runs:', ...runs.map(({ local, note }) => (note === undefined ? `- ${local}` : `- ${local} (${note})`))];
