import type { TaskView } from '../../actions.ts';
import { toLocalTime } from '../../components/schedule/local-time.ts';
import { isRegular, toRecurrence } from '../../components/schedule/recurrence-text.ts';
import { renderSchedule } from '../../components/schedule/render.ts';
import {
  countOutcomes,
  type RunOutcome,
  renderIcon,
  renderKey,
  renderTallStrip,
} from '../../components/status-icon.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { ASSET_URLS } from '../../http/assets.ts';
import { readId } from '../../http/path-ids.ts';
import { type Page, type UserPageContext, unwrap } from '../../page.ts';
import { describeFailure } from '../runs/failures.ts';
import { runsOfTask } from '../runs/list.ts';
import { describeOutcome } from '../runs/outcomes.ts';
import { renderAnswer, renderOutcome, TRIAL_SCRIPTS, type TrialOutcome } from '../task-form/trial/trial.ts';
import { describeFate, SIGNS } from './outcomes.ts';
import { isPausedUntil, type RefusedPause, renderPauseForm } from './pause-control.ts';
import { renderAnswers } from './task-answers.ts';
import { renderButtons } from './task-buttons.ts';
import { renderCosts } from './task-costs.ts';
import { renderPrompt } from './task-prompt.ts';
import { renderNextRuns, renderRuns } from './task-runs.ts';
import { renderSettings } from './task-settings.ts';

export async function showTask(context: UserPageContext): Promise<Page> {
  return renderTaskPage(context, unwrap(await context.actions.getTaskPage(context.session, { id: readId(context) })));
}

/** What a form of the page has come to. */
interface SentForm {
  refusedPause?: RefusedPause;
  outcome?: TrialOutcome;
}

export function renderTaskPage(
  context: UserPageContext,
  view: TaskView,
  { refusedPause, outcome = {} }: SentForm = {},
): Page {
  const { task, runs } = view;
  const { tasks } = context.texts;
  const words = toRecurrence(task);
  const isSimple = words !== null && isRegular(words);
  const next = view.next.filter(({ note }) => !isSimple || note);
  return {
    title: task.name,
    breadcrumb: { href: '/tasks', text: tasks.title },
    subtitle: html`${renderSchedule(task, context)}. ${describeNext(context, view)}`,
    isLive: true,
    scripts: [...TRIAL_SCRIPTS, ASSET_URLS.strip],
    aside: renderButtons(context, view, { isPauseRefused: refusedPause !== undefined, trial: outcome.trial }),
    answer: renderAnswer(context, outcome),
    body: html`${renderOutcome(context, outcome)}
${refusedPause && renderPauseForm(context, view, refusedPause)}
${task.description && html`<p class="lead">${task.description}</p>`}
${renderPrompt(context, view)}
${renderFailure(context, view)}
${renderStripSection(context, view)}
${renderAnswers(context, view)}
${(next.length > 0 || runs.length > 0) && html`<div class="halves">${renderNextRuns(context, task, next, isSimple)}${renderCosts(context, view)}</div>`}
${runs.length > 0 && renderRuns(context, view)}
${renderSettings(context, view)}`,
  };
}

function describeNext(context: UserPageContext, { task, runs }: TaskView): string {
  const { now } = context;
  const { tasks, formats } = context.texts;
  const isPaused = isPausedUntil(context, task);
  if (isPaused && task.pausedUntil !== null) {
    const until = new Date(task.pausedUntil);
    return tasks.pausedUntilIn(formats.moment(until, context), formats.distance(until, now));
  }
  if (task.nextExecutionAt !== null) {
    const at = new Date(task.nextExecutionAt);
    return tasks.nextRunAt(formats.moment(at, context), formats.distance(at, now));
  }
  switch (task.status) {
    case 'paused':
      return tasks.isPaused;
    case 'completed':
      return tasks.isDone;
    case 'failed':
      return runs[0]?.errorCode === 'CANCELLED' ? tasks.isCancelled : tasks.isStopped;
    case 'active':
      return tasks.noNextRun;
  }
}

/** What the latest run that has ended says, if it failed. */
function renderFailure(context: UserPageContext, { task, runs }: TaskView): Html {
  const { texts } = context;
  const { tasks } = texts;
  const ended = runs.find(({ status }) => status === 'completed' || status === 'failed');
  if (ended?.status !== 'failed' || ended.errorCode === 'CANCELLED') return EMPTY;
  const { outcome } = describeOutcome(texts, { ...ended, fate: null });
  const { why } = describeFailure(context, ended.errorCode, ended.startedAt !== null);
  const isRetried = runs[0]?.trigger === 'retry' && runs[0].status === 'pending';
  const next = isRetried ? tasks.isRetried : task.status === 'active' ? tasks.nextComes : tasks.noNextRun;
  return html`<div class="notice">${renderIcon(outcome)}<p><b>${tasks.lastFailed}</b> ${why}. ${next}</p><p><a href="/executions/${ended.id}">${tasks.seeWhy}</a></p></div>`;
}

const KEY: readonly RunOutcome[] = [
  'ran',
  'changed',
  'late',
  'unchanged',
  'running',
  'skipped',
  'failed',
  'missed',
  'quota',
  'skipped-by-user',
  'cancelled',
];

function renderStripSection(context: UserPageContext, { task, planned, saved }: TaskView): Html {
  const { texts } = context;
  const { tasks, formats } = texts;
  if (planned.length === 0) {
    return html`<section aria-labelledby="fates"><h2 id="fates">${tasks.plannedRuns}</h2>
<p class="muted">${tasks.noPlannedRuns}</p></section>`;
  }
  const fates = planned.map(({ fate }) => SIGNS[fate]);
  const cells = planned.map(({ plannedFor, fate, latenessMs, executionId }) => {
    const moment = formats.momentLabel(new Date(plannedFor), context);
    const late = fate === 'late' && latenessMs !== null ? tasks.lateBy(formats.duration(latenessMs)) : '';
    const { date } = toLocalTime(new Date(plannedFor), context.timeZone);
    const ofDay = { from: date, to: date, ...(fate === 'missed' && { outcome: 'missed' }) };
    const href = executionId === null ? runsOfTask(task.id, ofDay) : `/executions/${executionId}`;
    return { outcome: SIGNS[fate], href, title: `${moment}: ${describeFate(texts, fate)}${late}` };
  });
  const day = (at: string | undefined) => (at === undefined ? '' : formats.day(new Date(at), context));
  return html`<section aria-labelledby="fates">
<div class="head"><h2 id="fates">${tasks.lastPlannedRuns(planned.length)}</h2><p id="strip-words">${countOutcomes(fates, texts)}</p></div>
<figure>${renderTallStrip(cells, 'strip-words')}</figure>
<div class="head fine muted"><span>${planned.length > 15 ? day(planned[0]?.plannedFor) : ''}</span><span>${day(planned.at(-1)?.plannedFor)}</span></div>
${renderKey(
  KEY.filter((fate) => fates.includes(fate)),
  texts,
)}
${saved && html`<p class="fine muted">${tasks.saved(saved.runs, saved.usd > 0 ? formats.money(saved.usd) : null)}</p>`}
</section>`;
}
