import type { WebActionData } from '../../actions.ts';
import { CHANNEL_TITLES } from '../../components/channel-choices.ts';
import { countWords, formatCost, formatCount } from '../../components/format.ts';
import { type RunOutcome, renderIcon } from '../../components/status-icon.ts';
import { renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

type Overview = WebActionData<'getOverview'>;

interface Need {
  outcome: RunOutcome;
  text: Html;
  action: Html;
}

const MAX_SHOWN = 5;

const button = (href: string, text: string) => html`<a class="button" href="${href}">${text}</a>`;

const QUOTAS = [
  ['daily.executions', 'runs', 'today', 'at midnight UTC'],
  ['daily.tokens', 'tokens', 'today', 'at midnight UTC'],
  ['executions', 'runs', 'this month', 'with the next month'],
  ['tokens', 'tokens', 'this month', 'with the next month'],
] as const;

function listQuotas({ daily, executions, tokens }: Overview['usage']): Need[] {
  const quotas = {
    'daily.executions': daily.executions,
    'daily.tokens': daily.tokens,
    executions,
    tokens,
  };
  return QUOTAS.filter(([name]) => quotas[name].used >= quotas[name].limit).map(([name, unit, period, back]) => ({
    outcome: 'quota',
    text: html`The ${formatCount(quotas[name].limit)} ${unit} of ${period} are used. Tasks run again ${back}.`,
    action: button('/usage', 'See usage'),
  }));
}

const describeFailure = (failures: number) => (failures === 1 ? 'failed' : `failed ${failures} times in a row`);

function describeBudget(budget: string, cause: Overview['overBudget'][number]['cause']): string {
  if (cause === 'budget_too_small') return `does not run: its budget of ${budget} a month does not cover a run.`;
  const reason =
    cause === 'used'
      ? `has used its budget of ${budget} this month.`
      : `does not run: the rest of its budget of ${budget} this month does not cover a run.`;
  return `${reason} It runs again with the next month.`;
}

/** A webhook, or a channel, that was switched off after it failed. */
function describeSilent({ id, url, kind, name }: Overview['failedWebhooks'][number]): Need {
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

function listNeeds(context: UserPageContext, overview: Overview): Need[] {
  const { failing, silent, overBudget, failedWebhooks, usage, unconfirmedEmails } = overview;
  return [
    ...silent.map(
      ({ taskId, taskName, plannedFor }): Need => ({
        outcome: 'missed',
        text: html`<a href="/tasks/${taskId}"><b>${taskName}</b></a> is silent: its run of ${renderMoment(plannedFor, context)} has not ended.`,
        action: button(`/alerts?taskId=${taskId}`, 'See alerts'),
      }),
    ),
    ...failing.map(
      ({ taskId, taskName, failures, executionId, at, error }): Need => ({
        outcome: 'failed',
        text: html`<a href="/tasks/${taskId}"><b>${taskName}</b></a> ${describeFailure(failures)}${
          at !== null && html`, last ${renderMoment(at, context)}`
        }. ${error}`,
        action:
          executionId === null
            ? button(`/tasks/${taskId}`, 'See the task')
            : button(`/executions/${executionId}`, 'See why'),
      }),
    ),
    ...overBudget.map(
      ({ taskId, taskName, budgetUsd, cause }): Need => ({
        outcome: 'quota',
        text: html`<a href="/tasks/${taskId}"><b>${taskName}</b></a> ${describeBudget(formatCost(budgetUsd), cause)}`,
        action: button(`/tasks/${taskId}/edit`, 'Change the budget'),
      }),
    ),
    ...listQuotas(usage),
    ...failedWebhooks.map(describeSilent),
    ...unconfirmedEmails.map(
      (email): Need => ({
        outcome: 'waiting',
        text: html`<b>${email}</b> is not confirmed, so nothing is mailed to it. Open the link that it got.`,
        action: button('/settings#notifications', 'See addresses'),
      }),
    ),
  ];
}

/** What the person has to look at, the worst first. Nothing if all is well. */
export function renderAttention(context: UserPageContext, overview: Overview): Html {
  const needs = listNeeds(context, overview);
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
