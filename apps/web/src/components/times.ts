import { type Html, html } from '../html.ts';
import { formatDay, formatDistance, formatMoment, formatTime } from './format.ts';
import { type RunOutcome, renderIcon } from './status-icon.ts';

interface Clock {
  now: Date;
  timeZone: string;
}

/** An instant as local time, such as `Today 14:05`; its title says how far it is away. */
export const renderMoment = (at: Date | string, { now, timeZone }: Clock): Html => {
  const instant = new Date(at);
  return html`<time datetime="${instant.toISOString()}" title="${formatDistance(instant, now)}">${formatMoment(instant, timeZone, now)}</time>`;
};

/** The same with the distance below it, for tables. */
export const renderMomentWithDistance = (at: Date | string, clock: Clock): Html =>
  html`${renderMoment(at, clock)}<span class="sub">${formatDistance(new Date(at), clock.now)}</span>`;

/** The note of a planned run, with its times as people write them: `2026-11-25 08:00`. */
export const tidyNote = (note: string): string =>
  note.replace(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+[+-]\d\d:\d\d\[[^\]]*\]/g, '$1 $2');

export interface TimelineEntry {
  at: Date;
  /** What stands at the left, such as `14:05`. */
  time: string;
  /** Null for what is to come. */
  outcome: RunOutcome | null;
  content: Html | string;
  /** A heading above the entry, such as `Wednesday 25 March`. */
  day?: string | undefined;
}

/** Times at the left, and what happens then. */
export const renderTimeline = (entries: readonly TimelineEntry[]): Html =>
  html`<ol class="times">${entries.map(
    ({ at, time, outcome, content, day }) =>
      html`${
        day !== undefined && html`<li><span class="day">${day}</span></li>`
      }<li><time datetime="${at.toISOString()}">${time}</time><span class="node">${
        outcome === null ? html`<span class="dot"></span>` : renderIcon(outcome)
      }</span><div>${content}</div></li>`,
  )}</ol>`;

/** A timeline that begins today, with a heading above the first entry of each other day. */
export function renderDays(entries: readonly Omit<TimelineEntry, 'time' | 'day'>[], { now, timeZone }: Clock): Html {
  let day = formatDay(now, timeZone, now);
  return renderTimeline(
    entries.map((entry) => {
      const itsDay = formatDay(entry.at, timeZone, now);
      const isNewDay = itsDay !== day;
      day = itsDay;
      return { ...entry, time: formatTime(entry.at, timeZone), day: isNewDay ? itsDay : undefined };
    }),
  );
}
