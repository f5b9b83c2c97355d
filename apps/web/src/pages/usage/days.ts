import type { Formats, Texts } from '@carillon/texts';
import { type Bar, renderBars, roundUpUsd } from '../../components/charts.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import type { Month, Period } from './month.ts';

type Day = Month['days'][number];

const DAY_MS = 86_400_000;

interface Chart {
  name: keyof Texts['usage']['charts'];
  read: (day: Day) => number;
  show: (formats: Formats, value: number) => string;
}

const CHARTS: readonly Chart[] = [
  { name: 'cost', read: ({ costUsd }) => costUsd, show: (formats, value) => formats.money(value) },
  { name: 'tokens', read: ({ tokens }) => tokens, show: (formats, value) => formats.shortNumber(value) },
];

function renderChart(
  { usage, formats }: Texts,
  days: ReadonlyMap<number, Day>,
  period: Period,
  { name, read, show }: Chart,
): Html {
  const caption = usage.charts[name];
  const nameDay = (day: number) => formats.dayOfMonth(new Date(period.from.getTime() + (day - 1) * DAY_MS), 'UTC');
  const bars = Array.from({ length: period.days }, (_, at): Bar => {
    const day = days.get(at + 1);
    const value = day ? read(day) : 0;
    return { value, title: `${nameDay(at + 1)}: ${show(formats, value)}` };
  });
  const most = Math.max(...bars.map(({ value }) => value));
  const top = roundUpUsd(most);
  return html`<figure><figcaption>${caption}</figcaption>${renderBars(bars, top, {
    label: usage.chart(caption, period.name, show(formats, most)),
    scale: most > 0 ? usage.scale(show(formats, top)) : usage.nothingYet,
    from: nameDay(1),
    to: nameDay(period.days),
  })}</figure>`;
}

const renderDay = ({ usage, formats }: Texts, { day, executions, tokens, costUsd }: Day): Html =>
  renderRow(
    renderRowHead(formats.dayOfMonth(new Date(`${day}T00:00:00Z`), 'UTC')),
    renderCell(formats.number(executions), { class: 'num', label: usage.runs }),
    renderCell(formats.number(tokens), { class: 'num', label: usage.tokens }),
    renderCell(formats.money(costUsd), { class: 'num', label: usage.cost }),
  );

/** Cost and tokens of each day as pictures, and the same as a table. */
export function renderDays(texts: Texts, { days }: Month, period: Period): Html {
  const { usage } = texts;
  const columns = [
    { head: usage.day },
    { head: usage.runs, class: 'num' },
    { head: usage.tokens, class: 'num' },
    { head: usage.cost, class: 'num' },
  ];
  const byDay = new Map(days.map((day) => [Number(day.day.slice(8)), day]));
  return html`<section aria-labelledby="days"><div class="head"><h2 id="days">${usage.byDay}</h2><p>${usage.daysInUtc}</p></div>
<div class="halves">${CHARTS.map((chart) => renderChart(texts, byDay, period, chart))}</div>
${
  days.length > 0 &&
  html`<details class="after"><summary>${usage.daysAsTable}</summary>${renderTable(
    usage.daysTable,
    columns,
    days.map((day) => renderDay(texts, day)),
  )}</details>`
}</section>`;
}
