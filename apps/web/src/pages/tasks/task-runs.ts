import type { TaskView } from '../../actions.ts';
import { firstLine } from '../../components/first-line.ts';
import { formatZone } from '../../components/schedule/render.ts';
import { renderOutcome } from '../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment, renderTimeline } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { runsOfTask } from '../runs/list.ts';
import { describeError, describeOutcome } from '../runs/outcomes.ts';

type Run = TaskView['runs'][number];

const SHOWN = 10;
const SHOWN_NEXT = 5;

/** Planned runs, with what shifts one; of a schedule that a sentence says, the exceptions. */
export function renderNextRuns(
  context: UserPageContext,
  task: TaskView['task'],
  next: readonly TaskView['next'][number][],
  areExceptions: boolean,
): Html {
  const { now, timeZone, texts } = context;
  const { tasks, formats } = texts;
  if (next.length === 0) return EMPTY;
  const isOtherZone = task.timezone !== timeZone;
  const entries = next.slice(0, SHOWN_NEXT).map(({ at: text, local, note }, index) => {
    const at = new Date(text);
    const here = isOtherZone && `, ${tasks.timeIn(local.slice(11, 16), formatZone(task.timezone))}`;
    return {
      at,
      time: formats.time(at, timeZone),
      outcome: null,
      content: html`${formats.day(at, context)}<span class="muted">${here}${index === 0 && !areExceptions && `, ${formats.distance(at, now)}`}</span>${note && html`<p class="note">${note}</p>`}`,
    };
  });
  return html`<section aria-labelledby="next">
<div class="head"><h2 id="next">${areExceptions ? tasks.exceptions : next.length === 1 ? tasks.nextRun : tasks.nextRuns}</h2></div>
${renderTimeline(entries)}
</section>`;
}

/** The last runs, with a link to all. */
export function renderRuns(context: UserPageContext, { task, runs, planned }: TaskView): Html {
  const late = new Set(planned.filter(({ fate }) => fate === 'late').map(({ plannedFor }) => plannedFor));
  const { tasks, runs: words } = context.texts;
  const columns = [
    { head: tasks.runHead },
    { head: words.outcome },
    { head: words.answer },
    { head: words.duration, class: 'num' },
    { head: words.cost, class: 'num' },
  ];
  return html`<section aria-labelledby="runs">
<div class="head"><h2 id="runs">${tasks.runsTitle}</h2><a href="${runsOfTask(task.id)}">${tasks.allRuns(task.executionCount)}</a></div>
${renderTable(
  tasks.lastRuns,
  columns,
  runs
    .slice(0, SHOWN)
    .map((run) => renderRun(context, run, run.plannedFor !== null && late.has(run.plannedFor), task.version > 1)),
)}
</section>`;
}

function renderRun(context: UserPageContext, run: Run, isLate: boolean, hasVersions: boolean): Html {
  const { id, plannedFor, createdAt, trigger, attempt, processingTimeMs, costUsd, excerpt } = run;
  const { texts } = context;
  const { tasks, outcomes, formats, runs, versions } = texts;
  const { outcome, text } = describeOutcome(texts, { ...run, fate: isLate ? 'late' : null });
  const version = hasVersions && run.taskVersion !== null ? `, ${versions.versionOfRun(run.taskVersion)}` : '';
  const why = `${tasks.startedBy[trigger]}${attempt > 1 ? `, ${outcomes.attempt(attempt)}` : ''}${version}`;
  return renderRow(
    renderRowHead(
      html`<a href="/executions/${id}">${renderMoment(plannedFor ?? createdAt, context)}</a><span class="sub">${why}</span>`,
    ),
    renderCell(renderOutcome(outcome, text), { class: 'num-s' }),
    renderCell(excerpt === null ? describeError(texts, run) : firstLine(excerpt, MAX_EXCERPT), { class: 'whole' }),
    renderCell(processingTimeMs === null ? null : formats.duration(processingTimeMs), {
      class: 'num',
      label: runs.duration,
    }),
    renderCell(costUsd === null ? null : formats.money(costUsd), { class: 'num' }),
  );
}

const MAX_EXCERPT = 90;
