import { type Bar, renderBars, roundUp } from '../../components/charts.ts';
import { formatCost, formatCount, formatShortCount } from '../../components/format.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import { formatUtcDay, type Month, type Period } from './month.ts';

type Day = Month['days'][number];

interface Chart {
  caption: string;
  read: (day: Day) => number;
  show: (value: number) => string;
}

const CHARTS: readonly Chart[] = [
  { caption: 'Cost', read: ({ costUsd }) => costUsd, show: formatCost },
  { caption: 'Tokens', read: ({ tokens }) => tokens, show: formatShortCount },
];

function renderChart(days: ReadonlyMap<number, Day>, period: Period, { caption, read, show }: Chart): Html {
  const { name } = period;
  const bars = Array.from({ length: period.days }, (_, at): Bar => {
    const day = days.get(at + 1);
    const value = day ? read(day) : 0;
    return { value, title: `${at + 1} ${name}: ${show(value)}` };
  });
  const most = Math.max(...bars.map(({ value }) => value));
  const top = roundUp(most);
  return html`<figure><figcaption>${caption} by day</figcaption>${renderBars(bars, top, {
    label: `${caption} by day in ${name}: at most ${show(most)} on one day.`,
    scale: most > 0 ? `up to ${show(top)}` : 'nothing so far',
    from: `1 ${name}`,
    to: `${period.days} ${name}`,
  })}</figure>`;
}

const COLUMNS = [
  { head: 'Day' },
  { head: 'Runs', class: 'num' },
  { head: 'Tokens', class: 'num' },
  { head: 'Cost', class: 'num' },
];

const renderDay = ({ day, executions, tokens, costUsd }: Day): Html =>
  renderRow(
    renderRowHead(formatUtcDay(new Date(`${day}T00:00:00Z`))),
    renderCell(formatCount(executions), { class: 'num', label: 'Runs' }),
    renderCell(formatCount(tokens), { class: 'num', label: 'Tokens' }),
    renderCell(formatCost(costUsd), { class: 'num', label: 'Cost' }),
  );

/** Cost and tokens of each day as pictures, and the same as a table. */
export function renderDays({ days }: Month, period: Period): Html {
  const byDay = new Map(days.map((day) => [Number(day.day.slice(8)), day]));
  return html`<section aria-labelledby="days"><div class="head"><h2 id="days">By day</h2><p>Days in UTC</p></div>
<div class="halves">${CHARTS.map((chart) => renderChart(byDay, period, chart))}</div>
${
  days.length > 0 &&
  html`<details class="after"><summary>The days as a table</summary>${renderTable('Runs, tokens and cost by day', COLUMNS, days.map(renderDay))}</details>`
}</section>`;
}
