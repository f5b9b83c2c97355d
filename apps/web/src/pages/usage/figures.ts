import { formatBytes, formatCost, formatCount, formatShortCount } from '../../components/format.ts';
import { renderShare } from '../../components/meters.ts';
import { type Html, html } from '../../html.ts';
import { forecast, formatUtcDay, type Month, type Period, type Quota } from './month.ts';

/** Whether something runs out before the period ends: the first question of the page. */
export function describeOutlook({ executions, tokens, daily }: Month, period: Period, now: Date): string {
  const { name } = period;
  const quotas = [
    { unit: 'runs', quota: executions, at: forecast(executions, period, now).usedUpAt },
    { unit: 'tokens', quota: tokens, at: forecast(tokens, period, now).usedUpAt },
  ];
  const isUsedUp = ({ used, limit }: Quota) => used >= limit;
  const usedUp = quotas.filter(({ quota }) => isUsedUp(quota)).map(({ unit }) => unit);
  if (usedUp.length > 0) {
    return `The ${usedUp.join(' and the ')} of ${name} are used up. Tasks run again on ${formatUtcDay(period.until)}, 00:00 UTC.`;
  }
  const today = (['executions', 'tokens'] as const).filter((unit) => isUsedUp(daily[unit]));
  if (today.length > 0) {
    const units = today.map((unit) => (unit === 'executions' ? 'runs' : 'tokens')).join(' and the ');
    return `The ${units} of today are used up. Tasks run again at midnight UTC.`;
  }
  const ahead = quotas.flatMap(({ unit, at }) =>
    at === null ? [] : `the ${unit} of ${name} are used up on ${formatUtcDay(at)}`,
  );
  return ahead.length > 0 ? `At this pace ${ahead.join(', and ')}.` : `At this pace nothing runs out in ${name}.`;
}

function describeForecast(quota: Quota, period: Period, now: Date, show: (count: number) => string): string {
  const { expected, usedUpAt } = forecast(quota, period, now);
  if (quota.used >= quota.limit) return 'used up';
  return usedUpAt === null
    ? `at this pace ${show(Math.round(expected))} by the end of ${period.name}`
    : `at this pace used up on ${formatUtcDay(usedUpAt)}`;
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
      note: describeForecast(executions, period, now, formatCount),
    },
    {
      id: 'tokens',
      name: 'Tokens',
      quota: tokens,
      show: formatShortCount,
      note: describeForecast(tokens, period, now, formatShortCount),
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
