import { firstLine } from '../../components/first-line.ts';
import {
  countWords,
  formatCost,
  formatDay,
  formatDistance,
  formatDuration,
  formatTime,
} from '../../components/format.ts';
import { formatZone } from '../../components/schedule/render.ts';
import { renderOutcome } from '../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment, renderTimeline, tidyNote } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { runsOfTask } from '../runs/list.ts';
import { describeOutcome } from '../runs/outcomes.ts';
import type { TaskView } from './task-view.ts';

type Run = TaskView['runs'][number];

const SHOWN = 10;

/** The next planned runs, with what shifts one. */
export function renderNextRuns({ now, timeZone, csrfField }: UserPageContext, { next, task }: TaskView): Html {
  if (next.length === 0) return EMPTY;
  const isOtherZone = task.timezone !== timeZone;
  const entries = next.map(({ at: text, local, note }, index) => {
    const at = new Date(text);
    const here = isOtherZone && `, ${local.slice(11, 16)} in ${formatZone(task.timezone)}`;
    return {
      at,
      time: formatTime(at, timeZone),
      outcome: null,
      content: html`${formatDay(at, timeZone, now)}<span class="muted">${here}${index === 0 && `, ${formatDistance(at, now)}`}</span>${note && html`<p class="note">${tidyNote(note)}</p>`}`,
    };
  });
  const title = next.length === 10 ? 'Next ten' : next.length === 1 ? 'Next run' : 'Next runs';
  return html`<section aria-labelledby="next">
<div class="head"><h2 id="next">${title}</h2><form method="post" action="/tasks/${task.id}/skip">${csrfField}<input type="hidden" name="plannedFor" value="${task.nextExecutionAt}"><button class="quiet">Skip the next run</button></form></div>
${renderTimeline(entries)}
</section>`;
}

const TRIGGERS: Record<Run['trigger'], string> = {
  schedule: 'as planned',
  manual: 'started by you',
  inbound: 'by webhook',
  retry: 'tried again',
  backfill: 'filled in later',
};

/** The last runs, with a link to all. */
export function renderRuns(context: UserPageContext, { task, runs, planned }: TaskView): Html {
  const late = new Set(planned.filter(({ fate }) => fate === 'late').map(({ plannedFor }) => plannedFor));
  const heads = ['Run', 'Outcome', 'Answer', { head: 'Took', class: 'num' }, { head: 'Cost', class: 'num' }];
  const columns = heads.map((head) => (typeof head === 'string' ? { head } : head));
  return html`<section aria-labelledby="runs">
<div class="head"><h2 id="runs">Runs</h2><a href="${runsOfTask(task.id)}">All ${countWords(task.executionCount, 'run')}</a></div>
${renderTable(
  'Last runs',
  columns,
  runs.slice(0, SHOWN).map((run) => renderRun(context, run, run.plannedFor !== null && late.has(run.plannedFor))),
)}
</section>`;
}

function renderRun(context: UserPageContext, run: Run, isLate: boolean): Html {
  const { id, plannedFor, createdAt, trigger, attempt, processingTimeMs, costUsd, error, excerpt } = run;
  const { outcome, text } = describeOutcome({ ...run, fate: isLate ? 'late' : null });
  const why = `${TRIGGERS[trigger]}${attempt > 1 ? `, attempt ${attempt}` : ''}`;
  return renderRow(
    renderRowHead(
      html`<a href="/executions/${id}">${renderMoment(plannedFor ?? createdAt, context)}</a><span class="sub">${why}</span>`,
    ),
    renderCell(renderOutcome(outcome, text), { class: 'num-s' }),
    renderCell(excerpt === null ? error : firstLine(excerpt, MAX_EXCERPT), { class: 'whole' }),
    renderCell(processingTimeMs === null ? null : formatDuration(processingTimeMs), { class: 'num', label: 'took' }),
    renderCell(costUsd === null ? null : formatCost(costUsd), { class: 'num' }),
  );
}

const MAX_EXCERPT = 90;
