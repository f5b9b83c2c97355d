import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../../actions.ts';
import { formatZone } from '../../../components/schedule/render.ts';
import { renderTimeline } from '../../../components/times.ts';
import { type Html, html } from '../../../html.ts';
import type { UserPageContext } from '../../../page.ts';
import { type Plan, SHOWN_RUNS } from './plan.ts';

type Run = WebActionData<'previewRuns'>['occurrences'][number];

/** `+02:00` of `2026-03-29T03:30:00+02:00[Europe/Berlin]`, in minutes. */
function readOffset(local: string): number {
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)(?::\d\d)?\[/.exec(local) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function describeClocks(before: Run | undefined, run: Run, { taskForm }: Texts): string | null {
  const change = before ? readOffset(run.local) - readOffset(before.local) : 0;
  if (change === 0) return null;
  return change > 0 ? taskForm.clocksForward : taskForm.clocksBack;
}

/** Years and months as one number. */
const countMonths = ({ local }: Run) => Number(local.slice(0, 4)) * 12 + Number(local.slice(5, 7)) - 1;

/** The months between two monthly runs, which do not have the day. */
function describeShortMonths(
  { words }: Plan,
  before: Run | undefined,
  run: Run,
  { taskForm, formats }: Texts,
): string | null {
  if (words?.every !== 'month' || words.inShortMonths || !before) return null;
  const from = countMonths(before) + 1;
  const skipped = Array.from({ length: Math.max(0, countMonths(run) - from) }, (_, index) => from + index);
  if (skipped.length === 0) return null;
  const names = skipped.map((month) => formats.month(new Date(Date.UTC(Math.floor(month / 12), month % 12)), 'UTC'));
  return taskForm.skippedMonths(names, words.day);
}

/** The next runs, with what bends them. */
export function renderRuns({ now, texts }: UserPageContext, plan: Plan, timeZone: string): Html {
  const { taskForm, formats } = texts;
  const { runs } = plan;
  if (Object.keys(plan.problems).length > 0) {
    const [[message = ''] = []] = Object.values(plan.problems);
    return html`<p class="muted">${message.replace(/\.$/, '')}.</p>`;
  }
  if (runs.length === 0) return html`<p class="muted">${taskForm.noRuns}</p>`;
  const entries = runs.map((run, index) => {
    const at = new Date(run.at);
    const before = runs[index - 1];
    const clocks = describeClocks(before, run, texts);
    const notes = [describeShortMonths(plan, before, run, texts), run.note].filter((note) => typeof note === 'string');
    return {
      at,
      time: formats.time(at, timeZone),
      outcome: null,
      content: html`${formats.day(at, { now, timeZone })}${index === 0 && html`<span class="muted">${taskForm.isNext}</span>`}${
        clocks && html`<span class="muted">${clocks}</span>`
      }${notes.map((note) => html`<p class="note">${note}</p>`)}`,
    };
  });
  return html`${renderTimeline(entries)}<p class="hint">${
    plan.words?.every === 'once' || runs.length < SHOWN_RUNS ? taskForm.runsEnd : taskForm.runsGoOn
  } ${taskForm.zoneNow(formatZone(timeZone), formats.time(now, timeZone))}</p>`;
}
