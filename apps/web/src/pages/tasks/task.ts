import { parseId } from '@carillon/contract/validation/formats';
import {
  formatCount,
  formatDay,
  formatDistance,
  formatDuration,
  formatMoment,
  formatMomentInText,
} from '../../components/format.ts';
import { renderSchedule } from '../../components/schedule/render.ts';
import {
  countOutcomes,
  type RunOutcome,
  renderIcon,
  renderKey,
  renderTallStrip,
} from '../../components/status-icon.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { renderNotFound } from '../../http/errors.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { describeFailure } from '../runs/failures.ts';
import { describeOutcome } from '../runs/outcomes.ts';
import { renderFeed } from '../settings/feed.ts';
import { FATE_WORDS, SIGNS } from './outcomes.ts';
import { isPausedUntil, type RefusedPause, renderPauseControl } from './pause-control.ts';
import { renderAnswers } from './task-answers.ts';
import { renderCosts } from './task-costs.ts';
import { renderNextRuns, renderRuns } from './task-runs.ts';
import { renderSettings } from './task-settings.ts';
import type { TaskView } from './task-view.ts';

export async function showTask(context: UserPageContext): Promise<Page> {
  const id = parseId((context.request.params as { id: string }).id);
  if (id === null) return renderNotFound(context);
  return renderTaskPage(context, unwrap(await context.actions.getTaskPage(context.session, { id })));
}

export function renderTaskPage(context: UserPageContext, view: TaskView, refusedPause?: RefusedPause): Page {
  const { task, runs } = view;
  return {
    title: task.name,
    breadcrumb: { href: '/tasks', text: 'Tasks' },
    subtitle: html`${renderSchedule(task, context)}. ${describeNext(context, view)}`,
    isLive: true,
    aside: html`${renderButtons(context, view)}${renderPauseControl(context, view, refusedPause)}${renderFurtherButtons(context, view)}`,
    body: html`${renderFailure(view)}
${task.description && html`<p class="lead">${task.description}</p>`}
${renderStripSection(context, view)}
<div class="split">
<div class="gap-l">${renderAnswers(context, view)}</div>
<aside class="gap-l" aria-label="Plan and cost">${renderNextRuns(context, view)}${renderCosts(context, view)}${renderSettings(context, view)}${renderFeedSection(context, view)}</aside>
</div>
${runs.length > 0 && renderRuns(context, view)}`,
  };
}

const renderFeedSection = (context: UserPageContext, { task, feedCreatedAt }: TaskView): Html =>
  html`<section class="gap" aria-labelledby="feed"><div class="head"><h2 id="feed">Feed</h2></div>${renderFeed(context, { owner: `/tasks/${task.id}`, createdAt: feedCreatedAt })}</section>`;

function describeNext(context: UserPageContext, { task, runs }: TaskView): string {
  const { now, timeZone } = context;
  const isPaused = isPausedUntil(context, task);
  if (isPaused && task.pausedUntil !== null) {
    const until = new Date(task.pausedUntil);
    return `Paused until ${formatMomentInText(until, timeZone, now)}, ${formatDistance(until, now)}.`;
  }
  if (task.nextExecutionAt !== null) {
    const at = new Date(task.nextExecutionAt);
    return `Next run ${formatMomentInText(at, timeZone, now)}, ${formatDistance(at, now)}.`;
  }
  switch (task.status) {
    case 'paused':
      return 'Paused: it does not run until you resume it.';
    case 'completed':
      return 'Done: it does not run again.';
    case 'failed':
      return runs[0]?.errorCode === 'CANCELLED'
        ? 'Its run was stopped: it does not run again by itself.'
        : 'Stopped because it failed: it does not run until you resume it.';
    case 'active':
      return 'No further run is planned.';
  }
}

function renderButtons({ csrfField }: UserPageContext, { task, runs }: TaskView): Html {
  const { id, status } = task;
  const running = runs.find((run) => run.status === 'running');
  const canResume = status === 'paused' || (status === 'failed' && task.recurrence !== 'once');
  return html`<form class="do" method="post" action="/tasks/${id}">${csrfField}
<button class="primary" name="do" value="run">Run now</button>${
    running && html`<button formaction="/executions/${running.id}/cancel">Stop run</button>`
  }${
    status === 'active' && html`<button name="do" value="pause">Pause</button>`
  }${canResume && html`<button name="do" value="resume">Resume</button>`}
</form>`;
}

const renderFurtherButtons = ({ csrfField }: UserPageContext, { task: { id } }: TaskView): Html =>
  html`<form class="do" method="post" action="/tasks/${id}/duplicate">${csrfField}<a class="button" href="/tasks/${id}/edit">Edit</a><button>Duplicate</button><a class="button danger" href="/tasks/${id}/delete">Delete…</a></form>`;

/** What the latest run that has ended says, if it failed. */
function renderFailure({ task, runs }: TaskView): Html {
  const ended = runs.find(({ status }) => status === 'completed' || status === 'failed');
  if (ended?.status !== 'failed' || ended.errorCode === 'CANCELLED') return EMPTY;
  const { outcome } = describeOutcome({ ...ended, fate: null });
  const { why } = describeFailure(ended.errorCode, ended.startedAt !== null);
  const isRetried = runs[0]?.trigger === 'retry' && runs[0].status === 'pending';
  const then = isRetried
    ? 'It is tried again.'
    : task.status === 'active'
      ? 'The next run comes as planned.'
      : 'No further run is planned.';
  return html`<div class="notice">${renderIcon(outcome)}<p><b>The last run failed.</b> ${why}. ${then}</p><p><a href="/executions/${ended.id}">See why</a></p></div>`;
}

const KEY: readonly RunOutcome[] = [
  'ran',
  'changed',
  'late',
  'running',
  'skipped',
  'failed',
  'missed',
  'quota',
  'skipped-by-user',
  'cancelled',
];

function renderStripSection({ now, timeZone }: UserPageContext, { planned, task }: TaskView): Html {
  if (planned.length === 0) {
    return html`<section aria-labelledby="fates"><h2 id="fates">Planned runs</h2>
<p class="muted">What becomes of each planned run will stand here as a line of signs, after the first one.</p></section>`;
  }
  const fates = planned.map(({ fate }) => SIGNS[fate]);
  const cells = planned.map(({ plannedFor, fate, latenessMs }) => {
    const moment = formatMoment(new Date(plannedFor), timeZone, now);
    const late = fate === 'late' && latenessMs !== null ? `, by ${formatDuration(latenessMs)}` : '';
    return { outcome: SIGNS[fate], title: `${moment}: ${FATE_WORDS[fate].toLowerCase()}${late}` };
  });
  const day = (at: string | undefined) => (at === undefined ? '' : formatDay(new Date(at), timeZone, now));
  return html`<section aria-labelledby="fates">
<div class="head"><h2 id="fates">Last ${planned.length === 1 ? 'planned run' : `${formatCount(planned.length)} planned runs`}</h2><p id="strip-words">${countOutcomes(fates)}</p></div>
<figure>${renderTallStrip(cells, 'strip-words')}</figure>
<div class="head fine muted"><span>${planned.length > 15 ? day(planned[0]?.plannedFor) : ''}</span><span>${day(planned.at(-1)?.plannedFor)}</span></div>
<div class="head">${renderKey(KEY.filter((fate) => fates.includes(fate)))}<a href="/tasks/${task.id}/backfill">Fill in missed runs</a></div>
</section>`;
}
