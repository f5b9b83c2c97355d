import type { Parts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type RunOutcome, renderIcon } from '../../components/status-icon.ts';
import { renderMomentOn } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { renderAttempt } from '../task-form/attempt.ts';
import { renderSwitch } from '../webhooks/buttons.ts';

type Overview = WebActionData<'getOverview'>;
type Cause = Overview['causes'][number];
type CauseOf<K extends Cause['kind']> = Extract<Cause, { kind: K }>;

interface Need {
  outcome: RunOutcome;
  text: Html;
  actions: readonly Html[];
}

const MAX_SHOWN = 5;

const link = (href: string, text: string) => html`<a class="button" href="${href}">${text}</a>`;

/** A webhook, or a channel, that was switched off after it failed. */
function describeEndpoint(
  context: UserPageContext,
  { id, url, kind, name }: CauseOf<'endpoint_off'>['endpoint'],
): Need {
  const { home, channels } = context.texts;
  const path = `/${kind === 'webhook' ? 'webhooks' : 'channels'}/${id}`;
  const target = html`<a href="${path}"><b>${name || new URL(url).host}</b></a>`;
  return {
    outcome: 'failed',
    text:
      kind === 'webhook' ? html`${home.webhookOff(target)}` : html`${home.channelOff(target, channels.kinds[kind])}`,
    actions: [
      link(path, kind === 'webhook' ? home.seeDeliveries : home.seeWhy),
      renderSwitch(context, path, 'failed', false),
    ],
  };
}

function describeBudget(context: UserPageContext, cause: CauseOf<'over_budget'>): Parts<Html | string> {
  const { now, texts } = context;
  const { home, formats } = texts;
  const task = linkTask(cause);
  const budget = formats.money(cause.budgetUsd);
  // The month begins on a day of UTC.
  const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
  const date = formats.dateOn(nextMonth, { now, timeZone: 'UTC' });
  if (cause.reason === 'budget_too_small') return home.budgetTooSmall(task, budget);
  return cause.reason === 'used' ? home.budgetUsed(task, budget, date) : home.budgetAlmostUsed(task, budget, date);
}

interface NamedTask {
  taskId: number;
  taskName: string;
}

const linkTask = ({ taskId, taskName }: NamedTask): Html => html`<a href="/tasks/${taskId}"><b>${taskName}</b></a>`;

const nameTasks = (tasks: readonly NamedTask[]): string => tasks.map(({ taskName }) => taskName).join(', ');

const renderIds = (tasks: readonly NamedTask[]) =>
  tasks.map(({ taskId }) => html`<input type="hidden" name="id" value="${taskId}">`);

/** Runs or resumes tasks. The page of the task, or else the list, reports the result. */
const changeTasks = ({ csrfField }: UserPageContext, tasks: readonly NamedTask[], change: string, text: string) =>
  html`<form method="post" action="/tasks${tasks.length === 1 && `/${tasks[0]?.taskId}`}">${csrfField}${renderAttempt()}${renderIds(tasks)}<button name="do" value="${change}">${text}<span class="vh">: ${nameTasks(tasks)}</span></button></form>`;

/** Puts a cause of these tasks away until it changes. */
const acknowledge = ({ csrfField, texts }: UserPageContext, tasks: readonly NamedTask[], cause: string) =>
  html`<form method="post" action="/tasks/acknowledge">${csrfField}${renderIds(tasks)}<button class="quiet" name="cause" value="${cause}">${texts.home.acknowledge}<span class="vh">: ${nameTasks(tasks)}</span></button></form>`;

type Failure = CauseOf<'stopped' | 'failing'>;

/** Several tasks that fail for one reason, such as a rejected key, are one cause. */
function describeFailures(context: UserPageContext, failures: readonly [Failure, ...Failure[]]): Need {
  const { home, tasks, runs } = context.texts;
  const [{ kind, taskId, executionId, at, error, cause, failures: count }, second, ...others] = failures;
  const moment = at === null ? null : renderMomentOn(at, context);
  const isStopped = kind === 'stopped';
  const describe = isStopped ? home.stopped : home.failed;
  const first = linkTask(failures[0]);
  const [href, text] =
    executionId === null ? [`/tasks/${taskId}`, home.seeTask] : [`/executions/${executionId}`, home.seeWhy];
  return {
    outcome: 'failed',
    text: html`${second ? home.failedTogether(first, linkTask(second), others.length, isStopped) : describe(first, count, moment)} ${error}`,
    actions: [
      html`<a class="button" href="${href}">${text}<span class="vh">: ${nameTasks(failures)}</span></a>`,
      isStopped
        ? changeTasks(context, failures, 'resume', tasks.resume)
        : changeTasks(context, failures, 'run', runs.runAgain),
      acknowledge(context, failures, cause),
    ],
  };
}

const isFailure = (cause: Cause): cause is Failure => cause.kind === 'stopped' || cause.kind === 'failing';

/** In the order of the causes: a group is where its first task is. */
function describeNeeds(context: UserPageContext, causes: readonly Cause[]): Need[] {
  const groups = Map.groupBy(causes.filter(isFailure), ({ cause, error }) => `${cause} ${error}`);
  return causes.flatMap((cause) => {
    if (!isFailure(cause)) return [describeNeed(context, cause)];
    const group = groups.get(`${cause.cause} ${cause.error}`) as [Failure, ...Failure[]];
    return group[0] === cause ? [describeFailures(context, group)] : [];
  });
}

function describeNeed(context: UserPageContext, cause: Exclude<Cause, Failure>): Need {
  const { home, formats, tasks, channels } = context.texts;
  const momentOn = (at: string) => formats.momentOn(new Date(at), context);
  const ofQuota = (text: string, other: Html): Need => ({
    outcome: 'quota',
    text: html`${text}`,
    actions: [link('/usage', home.seeUsage), other],
  });
  const seeSkipped = link('/executions?outcome=over_quota', home.seeSkipped);
  const seeTasks = link('/tasks', home.allTasks);
  switch (cause.kind) {
    case 'trial_ended':
      return ofQuota(home.trialEnded(cause.runs, cause.tasks), seeSkipped);
    case 'trial_ends':
      return ofQuota(home.trialEnds(momentOn(cause.from), cause.runs, cause.tasks), seeTasks);
    case 'over_quota':
      return ofQuota(home.quotaUsed(cause, momentOn(cause.until)), seeSkipped);
    case 'quota_ends':
      return ofQuota(home.quotaEnds(cause, momentOn(cause.from), momentOn(cause.until)), seeTasks);
    case 'endpoint_off':
      return describeEndpoint(context, cause.endpoint);
    case 'late':
      return {
        outcome: 'missed',
        text: html`${home.overdue(linkTask(cause), renderMomentOn(cause.plannedFor, context))}`,
        actions: [
          link(`/alerts?taskId=${cause.taskId}`, home.seeAlerts),
          changeTasks(context, [cause], 'run', tasks.run),
          acknowledge(context, [cause], cause.cause),
        ],
      };
    case 'over_budget':
      return {
        outcome: 'quota',
        text: html`${describeBudget(context, cause)}`,
        actions: [link(`/tasks/${cause.taskId}/edit`, home.changeBudget), link(`/tasks/${cause.taskId}`, home.seeTask)],
      };
    case 'unconfirmed':
      return {
        outcome: 'waiting',
        text: html`${home.unconfirmed(html`<b>${cause.email}</b>`)}`,
        actions: [
          link('/settings/notifications', home.seeAddresses),
          html`<form method="post" action="/notifications/confirm-address">${context.csrfField}<input type="hidden" name="email" value="${cause.email}"><button>${channels.sendLinkAgain}<span class="vh">: ${cause.email}</span></button></form>`,
        ],
      };
  }
}

const renderNeeds = (needs: readonly Need[]): Html =>
  html`<ul class="needs">${needs.map(
    ({ outcome, text, actions }) => html`<li>${renderIcon(outcome)}<p>${text}</p><div class="do">${actions}</div></li>`,
  )}</ul>`;

/** What the person has to look at, the worst first: the largest text of the page. */
export function renderAttention(context: UserPageContext, { causes }: Overview): Html {
  const { home } = context.texts;
  if (causes.length === 0) return html`<p class="state">${home.noAttention}</p>`;
  const needs = describeNeeds(context, causes);
  const more = needs.slice(MAX_SHOWN);
  return html`<section aria-labelledby="needs">
<div class="head"><h2 class="state" id="needs">${home.attention}</h2><p>${home.items(needs.length)}</p></div>
${renderNeeds(needs.slice(0, MAX_SHOWN))}
${more.length > 0 && html`<details id="more-needs" class="rest"><summary>${home.andMore(more.length)}</summary>${renderNeeds(more)}</details>`}
</section>`;
}

/** Once for each outage, what was missed, and what ran later. */
export const renderOutages = (context: UserPageContext, { outages }: Overview): Html | false =>
  outages.length > 0 &&
  html`<div class="notice warn">${outages.map(({ from, until, missed, madeUp }) => {
    const { home, formats } = context.texts;
    const [start, end] = [new Date(from), new Date(until)];
    const isOneDay = formats.day(start, context) === formats.day(end, context);
    const endText = isOneDay ? formats.time(end, context.timeZone) : formats.moment(end, context);
    const [outcome, text] = missed > madeUp ? ['missed', home.seeMissed] : ['late', home.seeLate];
    return html`<p>${home.outage(formats.moment(start, context), endText, missed - madeUp, madeUp)} <a href="/executions?outcome=${outcome}">${text}</a></p>`;
  })}</div>`;
