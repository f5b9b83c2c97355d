import type { WebActionData } from '../../actions.ts';
import { type Bar, renderBars, roundUpUsd } from '../../components/charts.ts';
import { renderShare } from '../../components/meters.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

type Usage = WebActionData<'getOverview'>['usage'];

/** Days and months of usage are in UTC. */
const ZONE = 'UTC';

const countDays = (now: Date) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();

function renderCosts(usage: Usage, { now, texts: { home, formats } }: UserPageContext): Html {
  const dayCount = countDays(now);
  const nameDay = (day: number) =>
    formats.dayOfMonth(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), day)), ZONE);
  const costs = new Map(usage.days.map(({ day, costUsd }) => [Number(day.slice(8)), costUsd]));
  const bars = Array.from({ length: dayCount }, (_, at): Bar => {
    const value = costs.get(at + 1) ?? 0;
    return { value, title: home.dayCost(nameDay(at + 1), formats.money(value)) };
  });
  const most = Math.max(...bars.map(({ value }) => value));
  const top = roundUpUsd(most);
  return html`<figure><figcaption>${home.costByDay}</figcaption>${renderBars(bars, top, {
    label: home.costChart(formats.month(now, ZONE), formats.money(most)),
    scale: most > 0 ? home.upTo(formats.money(top)) : home.noCost,
    from: nameDay(1),
    to: nameDay(dayCount),
  })}</figure>`;
}

/** Cost and use of this month, next to what the plan allows. */
export function renderMonth(usage: Usage, context: UserPageContext): Html {
  const { now, texts } = context;
  const { home, formats } = texts;
  const { executions, tokens, daily, costUsd } = usage;
  const projected = (costUsd / now.getUTCDate()) * countDays(now);
  return html`<section aria-labelledby="month">
<div class="head"><h2 id="month">${home.monthSoFar(formats.month(now, ZONE))}</h2><a href="/usage">${home.usage}</a></div>
<div class="halves"><dl class="figures">
<div><dt>${home.cost}</dt><dd>${formats.money(costUsd)}</dd><dd>${home.projected(formats.money(projected))}</dd></div>
<div><dt id="month-runs">${home.runsTitle}</dt><dd>${formats.number(executions.used)}</dd>${renderShare('month-runs', executions, home.ofLimit(formats.number(executions.limit)))}</div>
<div><dt id="day-runs">${home.runsToday}</dt><dd>${formats.number(daily.executions.used)}</dd>${renderShare('day-runs', daily.executions, home.ofDailyLimit(formats.number(daily.executions.limit)))}</div>
<div><dt id="month-tokens">${home.tokens}</dt><dd>${formats.shortNumber(tokens.used)}</dd>${renderShare('month-tokens', tokens, home.ofLimit(formats.shortNumber(tokens.limit)))}</div>
<div><dt id="day-tokens">${home.tokensToday}</dt><dd>${formats.shortNumber(daily.tokens.used)}</dd>${renderShare('day-tokens', daily.tokens, home.ofDailyLimit(formats.shortNumber(daily.tokens.limit)))}</div>
</dl>${renderCosts(usage, context)}</div>
</section>`;
}
