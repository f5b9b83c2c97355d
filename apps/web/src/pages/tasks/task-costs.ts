import { type Bar, renderBars, roundUp } from '../../components/charts.ts';
import { countWords, formatCost, formatDay, formatDuration, formatMoment } from '../../components/format.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { TaskView } from './task-view.ts';

interface Measure {
  name: string;
  format(value: number): string;
  read(run: TaskView['runs'][number]): number | null;
}

const COST: Measure = { name: 'Cost', format: formatCost, read: ({ costUsd }) => costUsd };
const TIME: Measure = { name: 'Time', format: formatDuration, read: ({ processingTimeMs }) => processingTimeMs };

/** Cost and time of the last runs that have ended, oldest first. */
export function renderCosts(context: UserPageContext, { runs, cost }: TaskView): Html {
  const ended = runs.filter(({ completedAt }) => completedAt !== null).reverse();
  if (ended.length === 0) return EMPTY;
  return html`<section class="gap" aria-labelledby="cost">
<div class="head"><h2 id="cost">Cost and time</h2><p>${cost.isPartial && 'over '}${formatCost(cost.usd)} in 30 days</p></div>
${[COST, TIME].map((measure) => html`<figure>${renderMeasure(context, ended, measure)}</figure>`)}
</section>`;
}

function renderMeasure(
  { now, timeZone }: UserPageContext,
  runs: TaskView['runs'],
  { name, format, read }: Measure,
): Html {
  const values = runs.map((run) => read(run) ?? 0);
  const bars = runs.map((run, at): Bar => {
    const value = values[at] ?? 0;
    const moment = formatMoment(new Date(run.plannedFor ?? run.createdAt), timeZone, now);
    return { value, title: `${moment}: ${format(value)}`, ...(run.status === 'failed' && { kind: 'fault' as const }) };
  });
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const top = roundUp(most);
  const range = least === most ? format(most) : `${format(least)} to ${format(most)}`;
  const day = (run: TaskView['runs'][number] | undefined) =>
    run ? formatDay(new Date(run.createdAt), timeZone, now) : '';
  return renderBars(bars, top, {
    label: `${name} of the last ${countWords(runs.length, 'run')}: ${range}.`,
    scale: `${name.toLowerCase()}, up to ${format(top)}`,
    from: day(runs[0]),
    to: day(runs.at(-1)),
  });
}
