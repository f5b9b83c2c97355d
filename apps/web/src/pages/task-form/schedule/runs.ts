import type { WebActionData } from '../../../actions.ts';
import { formatDay, formatTime } from '../../../components/format.ts';
import { renderTimeline, tidyNote } from '../../../components/times.ts';
import { type Html, html } from '../../../html.ts';
import { type Plan, SHOWN_RUNS } from './plan.ts';

type Run = WebActionData<'previewRuns'>['occurrences'][number];

/** `+02:00` of `2026-03-29T03:30:00+02:00[Europe/Berlin]`, in minutes. */
function readOffset(local: string): number {
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)(?::\d\d)?\[/.exec(local) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function describeClocks(before: Run | undefined, run: Run): string | null {
  const change = before ? readOffset(run.local) - readOffset(before.local) : 0;
  if (change === 0) return null;
  return change > 0 ? 'the first after clocks go forward' : 'the first after clocks go back';
}

/** Years and months as one number. */
const countMonths = ({ local }: Run) => Number(local.slice(0, 4)) * 12 + Number(local.slice(5, 7)) - 1;

const MONTHS = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' });

/** The months between two monthly runs, which do not have the day. */
function describeShortMonths({ words }: Plan, before: Run | undefined, run: Run): string | null {
  if (words?.every !== 'month' || words.inShortMonths || !before) return null;
  const from = countMonths(before) + 1;
  const skipped = Array.from({ length: Math.max(0, countMonths(run) - from) }, (_, index) => from + index);
  if (skipped.length === 0) return null;
  const names = skipped.map((month) => MONTHS.format(Date.UTC(Math.floor(month / 12), month % 12)));
  return `None in ${names.join(' and ')}, without a day ${words.day}.`;
}

/** The next runs, with what bends them. */
export function renderRuns(plan: Plan, timezone: string, now: Date): Html {
  const { runs } = plan;
  if (Object.keys(plan.problems).length > 0) {
    const [[message = ''] = []] = Object.values(plan.problems);
    return html`<p class="muted">${message.replace(/\.$/, '')}.</p>`;
  }
  if (runs.length === 0) return html`<p class="muted">There is no run to come: it has run for the last time.</p>`;
  const entries = runs.map((run, index) => {
    const at = new Date(run.at);
    const before = runs[index - 1];
    const clocks = describeClocks(before, run);
    const notes = [describeShortMonths(plan, before, run), run.note].filter((note) => typeof note === 'string');
    return {
      at,
      time: formatTime(at, timezone),
      outcome: null,
      content: html`${formatDay(at, timezone, now)}${index === 0 && html`<span class="muted">, next run</span>`}${
        clocks && html`<span class="muted">, ${clocks}</span>`
      }${notes.map((note) => html`<p class="note">${tidyNote(note)}</p>`)}`,
    };
  });
  const place = timezone.split('/').at(-1)?.replaceAll('_', ' ');
  return html`${renderTimeline(entries)}<p class="hint">${
    plan.words?.every === 'once' || runs.length < SHOWN_RUNS ? 'Then no more.' : 'And so on.'
  } ${place} time, now ${formatTime(now, timezone)}.</p>`;
}
