import type { Formats, Texts } from '@carillon/texts';
import { renderShare } from '../../components/meters.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { forecast, formatUtcDay, type Month, type Period, type Quota } from './month.ts';

type Shortage = NonNullable<Month['forecast']>['shortages'][number];
type Show = (formats: Formats, amount: number) => string;

const showCount: Show = (formats, amount) => formats.number(amount);
const showShort: Show = (formats, amount) => formats.shortNumber(amount);
const showBytes: Show = (formats, amount) => formats.bytes(amount);

/** Whether something runs out before the period ends: the first question of the page. */
export function describeOutlook(
  { texts, now }: UserPageContext,
  { executions, tokens, daily, trialEndsAt, forecast }: Month,
  period: Period,
): string {
  const { usage, formats } = texts;
  if (trialEndsAt !== null && new Date(trialEndsAt) <= now) return usage.trialEnded;
  const listUsed = (quotas: { executions: Quota; tokens: Quota }) =>
    (['executions', 'tokens'] as const)
      .filter((resource) => quotas[resource].used >= quotas[resource].limit)
      .map((resource) => usage.resources[resource]);
  const month = listUsed({ executions, tokens });
  if (month.length > 0) {
    return usage.monthUsed(formats.list(month), period.name, formatUtcDay(texts, period.until, now));
  }
  const today = listUsed(daily);
  if (today.length > 0) return usage.todayUsed(formats.list(today));
  const shortages = (forecast?.shortages ?? []).map((shortage) => describeShortage(texts, shortage, period.name, now));
  return shortages.length > 0 ? usage.planned(formats.list(shortages)) : usage.nothingRunsOut(period.name);
}

function describeShortage(texts: Texts, { resource, period, from, runs }: Shortage, month: string, now: Date): string {
  const { usage } = texts;
  const date = formatUtcDay(texts, new Date(from), now);
  if (resource === 'trial') return usage.trialEnds(date);
  return period === 'day'
    ? usage.dayShortage(usage.resources[resource], date, runs)
    : usage.monthShortage(usage.resources[resource], month, date, runs);
}

function describeForecast(
  { texts, now }: UserPageContext,
  resource: 'executions' | 'tokens',
  month: Month,
  period: Period,
  show: Show,
): string {
  const { usage, formats } = texts;
  const { used, limit } = month[resource];
  if (used >= limit) return usage.used;
  const shortage = month.forecast?.shortages.find((one) => one.resource === resource && one.period === 'month');
  return shortage
    ? usage.usedOn(formatUtcDay(texts, new Date(shortage.from), now))
    : usage.byMonthEnd(show(formats, month.forecast?.[resource] ?? used), period.name);
}

interface Figure {
  id: string;
  name: string;
  quota: Quota;
  show: Show;
  note: string | null;
}

const renderFigure = ({ usage, formats }: Texts, { id, name, quota, show, note }: Figure): Html =>
  html`<div><dt id="${id}">${name}</dt><dd>${show(formats, quota.used)}</dd>${renderShare(id, quota, usage.of(show(formats, quota.limit)))}${
    note !== null && html`<dd>${note}</dd>`
  }</div>`;

/** How often the models of the month used the web; nothing for a month without. */
const renderTools = ({ usage, formats }: Texts, { tools: { uses, costUsd } }: Month): Html | false =>
  uses > 0 &&
  html`<div><dt>${usage.webTools}</dt><dd>${formats.number(uses)}</dd><dd>${
    costUsd > 0 ? usage.webToolsCost(formats.money(costUsd)) : usage.webToolsHint
  }</dd></div>`;

/** What unchanged sources have saved; nothing for a month without. */
const renderSaved = ({ usage, formats }: Texts, { saved: { runs, usd } }: Month): Html | false =>
  runs > 0 &&
  html`<div><dt>${usage.saved}</dt><dd>${formats.number(runs)}</dd><dd>${usage.savedCost(formats.money(usd))}</dd></div>`;

/** What is used of the limits of the plan. */
export function renderNow(context: UserPageContext, month: Month, period: Period): Html {
  const { texts, now } = context;
  const { usage, formats } = texts;
  const { executions, tokens, storage, daily, costUsd, completed, failed } = month;
  const { expected } = forecast({ used: costUsd, limit: Number.POSITIVE_INFINITY }, period, now);
  const figures: Figure[] = [
    {
      id: 'runs',
      name: usage.runs,
      quota: executions,
      show: showCount,
      note: describeForecast(context, 'executions', month, period, showCount),
    },
    {
      id: 'tokens',
      name: usage.tokens,
      quota: tokens,
      show: showShort,
      note: describeForecast(context, 'tokens', month, period, showShort),
    },
    { id: 'runs-today', name: usage.runsToday, quota: daily.executions, show: showCount, note: usage.resetsAtMidnight },
    { id: 'tokens-today', name: usage.tokensToday, quota: daily.tokens, show: showShort, note: usage.resetsAtMidnight },
    { id: 'storage', name: usage.storage, quota: storage, show: showBytes, note: usage.storageHint },
  ];
  return html`<dl class="figures wide-figures"><div><dt>${usage.cost}</dt><dd>${formats.money(costUsd)}</dd><dd>${usage.atThisPace(formats.money(expected))}</dd></div>
${figures.map((figure) => renderFigure(texts, figure))}${renderTools(texts, month)}${renderSaved(texts, month)}</dl>
<p class="fine muted after">${usage.outcomesOf(period.name, completed, failed)}</p>`;
}

/** A month that is over. The plan of today may not be the plan of then, so no limits are shown. */
export function renderPast(texts: Texts, month: Month): Html {
  const { usage, formats } = texts;
  const { executions, tokens, costUsd, completed, failed } = month;
  return html`<dl class="figures">
<div><dt>${usage.cost}</dt><dd>${formats.money(costUsd)}</dd></div>
<div><dt>${usage.runs}</dt><dd>${formats.number(executions.used)}</dd><dd>${usage.outcomes(completed, failed)}</dd></div>
<div><dt>${usage.tokens}</dt><dd>${formats.shortNumber(tokens.used)}</dd></div>${renderTools(texts, month)}
</dl>`;
}
