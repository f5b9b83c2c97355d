import type { Texts } from '@carillon/texts';
import { type Html, html } from '../html.ts';
import { type RunOutcome, renderIcon } from './status-icon.ts';

interface Clock {
  now: Date;
  timeZone: string;
  texts: Texts;
}

const renderTime = (at: Date, text: string, { now, texts }: Clock): Html =>
  html`<time datetime="${at.toISOString()}" title="${texts.formats.distance(at, now)}">${text}</time>`;

/** An instant as a label, such as `Today at 14:05`; its title says how far it is away. */
export const renderMoment = (at: Date | string, clock: Clock): Html => {
  const instant = new Date(at);
  return renderTime(instant, clock.texts.formats.momentLabel(instant, clock), clock);
};

/** The same after a verb: `today at 14:05`, `on 24 March at 14:05`. */
export const renderMomentOn = (at: Date | string, clock: Clock): Html => {
  const instant = new Date(at);
  return renderTime(instant, clock.texts.formats.momentOn(instant, clock), clock);
};

/** A label with the distance below it, for tables. */
export const renderMomentWithDistance = (at: Date | string, clock: Clock): Html =>
  html`${renderMoment(at, clock)}<span class="sub">${clock.texts.formats.distance(new Date(at), clock.now)}</span>`;

/** The time since an instant as a clock, which the script `clock` lets tick: `4:31`, `1:02:03`. */
export function renderElapsed(since: Date, now: Date): Html {
  const elapsed = Math.max(0, now.getTime() - since.getTime());
  const seconds = Math.floor(elapsed / 1000);
  const pad = (part: number) => String(part).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  const text = minutes < 60 ? `${minutes}` : `${Math.floor(minutes / 60)}:${pad(minutes % 60)}`;
  return html`<span role="timer" data-elapsed="${elapsed}">${text}:${pad(seconds % 60)}</span>`;
}

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

type EntryOfDay = Omit<TimelineEntry, 'time' | 'day'> & Partial<Pick<TimelineEntry, 'time'>>;

/** A timeline that begins today, with a heading above the first entry of each other day. */
export function renderDays(entries: readonly EntryOfDay[], clock: Clock): Html {
  const { formats } = clock.texts;
  let day = formats.day(clock.now, clock);
  return renderTimeline(
    entries.map((entry) => {
      const itsDay = formats.day(entry.at, clock);
      const isNewDay = itsDay !== day;
      day = itsDay;
      return { time: formats.time(entry.at, clock.timeZone), ...entry, day: isNewDay ? itsDay : undefined };
    }),
  );
}
