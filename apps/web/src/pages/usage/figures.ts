import { formatBytes, formatCost, formatCount, formatShortCount } from '../../components/format.ts';
import { renderShare } from '../../components/meters.ts';
import { type Html, html } from '../../html.ts';
import { forecast, formatUtcDay, type Month, type Period, type Quota } from './month.ts';

type Shortage = NonNullable<Month['forecast']>['shortages'][number];

const UNITS = { executions: 'runs', tokens: 'tokens', trial: 'trial' };

/** Whether something runs out before the period ends: the first question of the page. */
export function describeOutlook(
  { executions, tokens, daily, trialEndsAt, forecast }: Month,
  period: Period,
  now: Date,
): string {
  const { name } = period;
  if (trialEndsAt !== null && new Date(trialEndsAt) <= now) return 'The trial has ended. Tasks do not run.';
  const isUsedUp = ({ used, limit }: Quota) => used >= limit;
  const usedUp = [isUsedUp(executions) && 'runs', isUsedUp(tokens) && 'tokens'].filter(Boolean);
  if (usedUp.length > 0) {
    return `The ${usedUp.join(' and the ')} of ${name} are used up. Tasks run again on ${formatUtcDay(period.until)}, 00:00 UTC.`;
  }
  const today = (['executions', 'tokens'] as const).filter((unit) => isUsedUp(daily[unit]));
  if (today.length > 0) {
    const units = today.map((unit) => UNITS[unit]).join(' and the ');
    return `The ${units} of today are used up. Tasks run again at midnight UTC.`;
  }
  const ahead = (forecast?.shortages ?? []).map((shortage) => describeShortage(shortage, name));
  return ahead.length > 0 ? `As planned, ${ahead.join(', and ')}.` : `As planned, nothing runs out in ${name}.`;
}

function describeShortage({ resource, period, from, runs }: Shortage, month: string): string {
  const on = `on ${formatUtcDay(new Date(from))}`;
  if (resource === 'trial') return `the trial ends ${on}`;
  const refused = `${formatCount(runs)} planned ${runs === 1 ? 'run is' : 'runs are'} refused`;
  return `the ${UNITS[resource]} of ${period === 'day' ? 'the day' : month} are used up ${on}: ${refused}`;
}

function describeForecast(
  resource: 'executions' | 'tokens',
  month: Month,
  period: Period,
  show: (count: number) => string,
): string {
  const { used, limit } = month[resource];
  if (used >= limit) return 'used up';
  const shortage = month.forecast?.shortages.find((one) => one.resource === resource && one.period === 'month');
  return shortage
    ? `as planned used up on ${formatUtcDay(new Date(shortage.from))}`
    : `as planned ${show(month.forecast?.[resource] ?? used)} by the end of ${period.name}`;
}

interface Figure {
  id: string;
  name: string;
  quota: Quota;
  show: (count: number) => string;
  note: string | null;
}

const renderFigure = ({ id, name, quota, show, note }: Figure): Html =>
  html`<div><dt id="${id}">${name}</dt><dd>${show(quota.used)}</dd>${renderShare(id, quota, `of ${show(quota.limit)}`)}${
    note !== null && html`<dd>${note}</dd>`
  }</div>`;

/** How often the models of the month used the web; nothing for a month without. */
const renderTools = ({ tools: { uses, costUsd } }: Month): Html | false =>
  uses > 0 &&
  html`<div><dt>Web tools</dt><dd>${formatCount(uses)}</dd><dd>searches and pages read${
    costUsd > 0 && `, ${formatCost(costUsd)} of the cost`
  }</dd></div>`;

/** What is used of the limits of the plan. */
export function renderNow(month: Month, period: Period, now: Date): Html {
  const { executions, tokens, storage, daily, costUsd, completed, failed } = month;
  const { expected } = forecast({ used: costUsd, limit: Number.POSITIVE_INFINITY }, period, now);
  const figures: Figure[] = [
    {
      id: 'runs',
      name: 'Runs',
      quota: executions,
      show: formatCount,
      note: describeForecast('executions', month, period, formatCount),
    },
    {
      id: 'tokens',
      name: 'Tokens',
      quota: tokens,
      show: formatShortCount,
      note: describeForecast('tokens', month, period, formatShortCount),
    },
    { id: 'runs-today', name: 'Runs today', quota: daily.executions, show: formatCount, note: 'back at midnight UTC' },
    {
      id: 'tokens-today',
      name: 'Tokens today',
      quota: daily.tokens,
      show: formatShortCount,
      note: 'back at midnight UTC',
    },
    { id: 'storage', name: 'Storage', quota: storage, show: formatBytes, note: 'files that you have uploaded' },
  ];
  return html`<dl class="figures wide-figures"><div><dt>Cost</dt><dd>${formatCost(costUsd)}</dd><dd>at this pace ${formatCost(expected)}</dd></div>
${figures.map(renderFigure)}${renderTools(month)}</dl>
<p class="fine muted after">${formatCount(completed)} runs of ${period.name} completed and ${formatCount(failed)} failed; runs of deleted tasks are not in these two.</p>`;
}

/** A month that is over. The plan of today may not be the plan of then, so no limits are shown. */
export function renderPast(month: Month): Html {
  const { executions, tokens, costUsd, completed, failed } = month;
  return html`<dl class="figures">
<div><dt>Cost</dt><dd>${formatCost(costUsd)}</dd></div>
<div><dt>Runs</dt><dd>${formatCount(executions.used)}</dd><dd>${formatCount(completed)} completed, ${formatCount(failed)} failed</dd></div>
<div><dt>Tokens</dt><dd>${formatShortCount(tokens.used)}</dd></div>${renderTools(month)}
</dl>`;
}
