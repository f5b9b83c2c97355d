import type { WebActionData } from '../../actions.ts';
import { type Bar, renderBars, roundUp } from '../../components/charts.ts';
import { formatCost, formatCount, formatShortCount } from '../../components/format.ts';
import { renderShare } from '../../components/meters.ts';
import { type Html, html } from '../../html.ts';

type Usage = WebActionData<'getOverview'>['usage'];

const monthName = (now: Date) => new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' }).format(now);

function renderCosts(usage: Usage, now: Date): Html {
  const year = now.getUTCFullYear();
  const month = now.getUTCMonth();
  const dayCount = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const name = monthName(now);
  const costs = new Map(usage.days.map(({ day, costUsd }) => [Number(day.slice(8)), costUsd]));
  const bars = Array.from({ length: dayCount }, (_, at): Bar => {
    const value = costs.get(at + 1) ?? 0;
    return { value, title: `${at + 1} ${name}: ${formatCost(value)}` };
  });
  const most = Math.max(...bars.map(({ value }) => value));
  const top = roundUp(most);
  return html`<figure><figcaption>Cost by day, UTC</figcaption>${renderBars(bars, top, {
    label: `Cost by day in ${name}: at most ${formatCost(most)} on one day.`,
    scale: most > 0 ? `up to ${formatCost(top)}` : 'no cost so far',
    from: `1 ${name}`,
    to: `${dayCount} ${name}`,
  })}</figure>`;
}

/** Cost and use of this month, beside what the plan allows. */
export function renderMonth(usage: Usage, now: Date): Html {
  const { executions, tokens, daily, costUsd } = usage;
  const passed = now.getUTCDate();
  const dayCount = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();
  return html`<section aria-labelledby="month">
<div class="head"><h2 id="month">${monthName(now)} so far</h2><a href="/usage">Usage</a></div>
<div class="halves"><dl class="figures">
<div><dt>Cost</dt><dd>${formatCost(costUsd)}</dd><dd>at this pace ${formatCost((costUsd / passed) * dayCount)}</dd></div>
<div><dt id="month-runs">Runs</dt><dd>${formatCount(executions.used)}</dd>${renderShare('month-runs', executions, `of ${formatCount(executions.limit)}`)}</div>
<div><dt id="month-tokens">Tokens</dt><dd>${formatShortCount(tokens.used)}</dd>${renderShare('month-tokens', tokens, `of ${formatShortCount(tokens.limit)}`)}</div>
<div><dt id="day-tokens">Tokens today</dt><dd>${formatShortCount(daily.tokens.used)}</dd>${renderShare('day-tokens', daily.tokens, `of ${formatShortCount(daily.tokens.limit)}, back at midnight UTC`)}</div>
</dl>${renderCosts(usage, now)}</div>
</section>`;
}
