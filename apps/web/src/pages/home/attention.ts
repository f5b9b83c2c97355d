import type { WebActionData } from '../../actions.ts';
import { CHANNEL_TITLES } from '../../components/channel-choices.ts';
import { countWords, formatCost, formatCount } from '../../components/format.ts';
import { type RunOutcome, renderIcon } from '../../components/status-icon.ts';
import { renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

type Overview = WebActionData<'getOverview'>;
type Cause = Overview['causes'][number];
type CauseOf<K extends Cause['kind']> = Extract<Cause, { kind: K }>;

interface Need {
  outcome: RunOutcome;
  text: Html;
  action: Html;
}

const MAX_SHOWN = 5;

const button = (href: string, text: string) => html`<a class="button" href="${href}">${text}</a>`;

const UNITS = { executions: 'runs', tokens: 'tokens' };
const PERIODS = { day: 'today', month: 'this month' };

const describeRefused = ({ runs, tasks }: { runs: number; tasks: number }) =>
  runs > 0 && html`: ${countWords(runs, 'run')} of ${countWords(tasks, 'task')} ${runs === 1 ? 'falls' : 'fall'} out`;

const describeFailure = (failures: number) => (failures === 1 ? 'failed' : `failed ${failures} times in a row`);

function describeBudget(budget: string, reason: CauseOf<'over_budget'>['reason']): string {
  if (reason === 'budget_too_small') return `does not run: its budget of ${budget} a month does not cover a run.`;
  const text =
    reason === 'used'
      ? `has used its budget of ${budget} this month.`
      : `does not run: the rest of its budget of ${budget} this month does not cover a run.`;
  return `${text} It runs again with the next month.`;
}

/** A webhook, or a channel, that was switched off after it failed. */
function describeSilent({ id, url, kind, name }: CauseOf<'endpoint_off'>['endpoint']): Need {
  if (kind === 'webhook') {
    return {
      outcome: 'failed',
      text: html`Webhook <a href="/webhooks/${id}"><b>${new URL(url).host}</b></a> is off, because five attempts in a row failed.`,
      action: button(`/webhooks/${id}`, 'See deliveries'),
    };
  }
  return {
    outcome: 'failed',
    text: html`Channel <a href="/channels/${id}"><b>${name}</b></a> is off, because ${CHANNEL_TITLES[kind]} did not take a message.`,
    action: button(`/channels/${id}`, 'See why'),
  };
}

function describeNeed(context: UserPageContext, cause: Cause): Need {
  switch (cause.kind) {
    case 'stopped':
    case 'failing': {
      const { kind, taskId, taskName, failures, executionId, at, error } = cause;
      return {
        outcome: 'failed',
        text: html`<a href="/tasks/${taskId}"><b>${taskName}</b></a> ${
          kind === 'stopped' ? `was stopped after ${failures} failed runs` : describeFailure(failures)
        }${at !== null && html`, last ${renderMoment(at, context)}`}. ${error}`,
        action:
          executionId === null
            ? button(`/tasks/${taskId}`, 'See the task')
            : button(`/executions/${executionId}`, 'See why'),
      };
    }
    case 'trial_ended':
      return {
        outcome: 'quota',
        text: html`The trial has ended${describeRefused(cause)} in 24 hours.`,
        action: button('/usage', 'See usage'),
      };
    case 'trial_ends':
      return {
        outcome: 'quota',
        text: html`The trial ends ${renderMoment(cause.from, context)}${describeRefused(cause)} in 24 hours.`,
        action: button('/usage', 'See usage'),
      };
    case 'over_quota':
      return {
        outcome: 'quota',
        text: html`The ${formatCount(cause.limit)} ${UNITS[cause.resource]} of ${PERIODS[cause.period]} are used${describeRefused(cause)} until ${renderMoment(cause.until, context)}.`,
        action: button('/usage', 'See usage'),
      };
    case 'quota_ends':
      return {
        outcome: 'quota',
        text: html`The ${formatCount(cause.limit)} ${UNITS[cause.resource]} of ${cause.period === 'day' ? 'a day' : 'this month'} are used up ${renderMoment(cause.from, context)}${describeRefused(cause)} until ${renderMoment(cause.until, context)}.`,
        action: button('/usage', 'See usage'),
      };
    case 'endpoint_off':
      return describeSilent(cause.endpoint);
    case 'late':
      return {
        outcome: 'missed',
        text: html`<a href="/tasks/${cause.taskId}"><b>${cause.taskName}</b></a> is silent: its run of ${renderMoment(cause.plannedFor, context)} has not ended.`,
        action: button(`/alerts?taskId=${cause.taskId}`, 'See alerts'),
      };
    case 'over_budget':
      return {
        outcome: 'quota',
        text: html`<a href="/tasks/${cause.taskId}"><b>${cause.taskName}</b></a> ${describeBudget(formatCost(cause.budgetUsd), cause.reason)}`,
        action: button(`/tasks/${cause.taskId}/edit`, 'Change the budget'),
      };
    case 'unconfirmed':
      return {
        outcome: 'waiting',
        text: html`<b>${cause.email}</b> is not confirmed, so nothing is mailed to it. Open the link that it got.`,
        action: button('/settings#notifications', 'See addresses'),
      };
  }
}

/** What the person has to look at, the worst first. Nothing if all is well. */
export function renderAttention(context: UserPageContext, overview: Overview): Html {
  const needs = overview.causes.map((cause) => describeNeed(context, cause));
  if (needs.length === 0) return EMPTY;
  const more = needs.length - MAX_SHOWN;
  return html`<section aria-labelledby="needs">
<div class="head"><h2 id="needs">Needs you</h2><p>${countWords(needs.length, 'thing')}</p></div>
<ul class="needs">${needs
    .slice(0, MAX_SHOWN)
    .map(
      ({ outcome, text, action }) => html`<li>${renderIcon(outcome)}<p>${text}</p><div class="do">${action}</div></li>`,
    )}</ul>
${more > 0 && html`<p><a href="/executions?status=failed">and ${more} more</a></p>`}
</section>`;
}
