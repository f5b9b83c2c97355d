import type { Parts, Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type RunOutcome, renderIcon } from '../../components/status-icon.ts';
import { renderMomentOn } from '../../components/times.ts';
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

/** A webhook, or a channel, that was switched off after it failed. */
function describeEndpoint(
  { home, channels }: Texts,
  { id, url, kind, name }: CauseOf<'endpoint_off'>['endpoint'],
): Need {
  if (kind === 'webhook') {
    const link = html`<a href="/webhooks/${id}"><b>${new URL(url).host}</b></a>`;
    const action = button(`/webhooks/${id}`, home.seeDeliveries);
    return { outcome: 'failed', text: html`${home.webhookOff(link)}`, action };
  }
  const link = html`<a href="/channels/${id}"><b>${name}</b></a>`;
  return {
    outcome: 'failed',
    text: html`${home.channelOff(link, channels.kinds[kind])}`,
    action: button(`/channels/${id}`, home.seeWhy),
  };
}

function describeBudget(context: UserPageContext, cause: CauseOf<'over_budget'>): Parts<Html | string> {
  const { now, texts } = context;
  const { home, formats } = texts;
  const task = linkTask(cause);
  const budget = formats.money(cause.budgetUsd);
  // The day on which the month begins is that of UTC.
  const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
  const date = formats.dateOn(nextMonth, { now, timeZone: 'UTC' });
  if (cause.reason === 'budget_too_small') return home.budgetTooSmall(task, budget);
  return cause.reason === 'used' ? home.budgetUsed(task, budget, date) : home.budgetAlmostUsed(task, budget, date);
}

const linkTask = ({ taskId, taskName }: { taskId: number; taskName: string }): Html =>
  html`<a href="/tasks/${taskId}"><b>${taskName}</b></a>`;

function describeNeed(context: UserPageContext, cause: Cause): Need {
  const { texts } = context;
  const { home, formats } = texts;
  const momentOn = (at: string) => formats.momentOn(new Date(at), context);
  const ofQuota = (text: string): Need => ({
    outcome: 'quota',
    text: html`${text}`,
    action: button('/usage', home.seeUsage),
  });
  switch (cause.kind) {
    case 'stopped':
    case 'failing': {
      const { kind, taskId, failures, executionId, at, error } = cause;
      const moment = at === null ? null : renderMomentOn(at, context);
      const describe = kind === 'stopped' ? home.stopped : home.failed;
      return {
        outcome: 'failed',
        text: html`${describe(linkTask(cause), failures, moment)} ${error}`,
        action:
          executionId === null
            ? button(`/tasks/${taskId}`, home.seeTask)
            : button(`/executions/${executionId}`, home.seeWhy),
      };
    }
    case 'trial_ended':
      return ofQuota(home.trialEnded(cause.runs, cause.tasks));
    case 'trial_ends':
      return ofQuota(home.trialEnds(momentOn(cause.from), cause.runs, cause.tasks));
    case 'over_quota':
      return ofQuota(home.quotaUsed(cause, momentOn(cause.until)));
    case 'quota_ends':
      return ofQuota(home.quotaEnds(cause, momentOn(cause.from), momentOn(cause.until)));
    case 'endpoint_off':
      return describeEndpoint(texts, cause.endpoint);
    case 'late':
      return {
        outcome: 'missed',
        text: html`${home.overdue(linkTask(cause), renderMomentOn(cause.plannedFor, context))}`,
        action: button(`/alerts?taskId=${cause.taskId}`, home.seeAlerts),
      };
    case 'over_budget':
      return {
        outcome: 'quota',
        text: html`${describeBudget(context, cause)}`,
        action: button(`/tasks/${cause.taskId}/edit`, home.changeBudget),
      };
    case 'unconfirmed':
      return {
        outcome: 'waiting',
        text: html`${home.unconfirmed(html`<b>${cause.email}</b>`)}`,
        action: button('/settings#notifications', home.seeAddresses),
      };
  }
}

/** What the person has to look at, the worst first. Nothing if all is well. */
export function renderAttention(context: UserPageContext, overview: Overview): Html {
  const { home } = context.texts;
  const needs = overview.causes.map((cause) => describeNeed(context, cause));
  if (needs.length === 0) return EMPTY;
  const more = needs.length - MAX_SHOWN;
  return html`<section aria-labelledby="needs">
<div class="head"><h2 id="needs">${home.attention}</h2><p>${home.items(needs.length)}</p></div>
<ul class="needs">${needs
    .slice(0, MAX_SHOWN)
    .map(
      ({ outcome, text, action }) => html`<li>${renderIcon(outcome)}<p>${text}</p><div class="do">${action}</div></li>`,
    )}</ul>
${more > 0 && html`<p><a href="/executions?status=failed">${home.andMore(more)}</a></p>`}
</section>`;
}
