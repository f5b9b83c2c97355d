import type { Formats, Texts } from '@carillon/texts';
import type { TaskView } from '../../actions.ts';
import { type Bar, renderBars, roundUp, roundUpUsd } from '../../components/charts.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

interface Measure {
  name: keyof Texts['tasks']['measures'];
  format(formats: Formats, value: number): string;
  /** The top of the scale. */
  roundUp(value: number): number;
  read(run: TaskView['runs'][number]): number | null;
}

const COST: Measure = {
  name: 'cost',
  format: (formats, value) => formats.money(value),
  roundUp: roundUpUsd,
  read: ({ costUsd }) => costUsd,
};
const TIME: Measure = {
  name: 'time',
  format: (formats, value) => formats.duration(value),
  roundUp,
  read: ({ processingTimeMs }) => processingTimeMs,
};

/** Cost and time of the last runs that have ended, oldest first. */
export function renderCosts(context: UserPageContext, { runs, cost }: TaskView): Html {
  const ended = runs.filter(({ completedAt }) => completedAt !== null).reverse();
  // One bar compares nothing, and would fill the chart.
  if (ended.length < 2) return EMPTY;
  const { tasks, formats } = context.texts;
  const usd = formats.money(cost.usd);
  return html`<section class="gap" aria-labelledby="cost">
<div class="head"><h2 id="cost">${tasks.costAndTime}</h2><p>${tasks.costIn30Days(cost.isPartial ? tasks.over(usd) : usd)}</p></div>
${[COST, TIME]
  .filter(({ read }) => ended.some((run) => (read(run) ?? 0) > 0))
  .map((measure) => html`<figure>${renderMeasure(context, ended, measure)}</figure>`)}
</section>`;
}

function renderMeasure(
  context: UserPageContext,
  runs: TaskView['runs'],
  { name, format, roundUp, read }: Measure,
): Html {
  const { tasks, formats } = context.texts;
  const show = (value: number) => format(formats, value);
  const measure = tasks.measures[name];
  const values = runs.map((run) => read(run) ?? 0);
  const bars = runs.map((run, at): Bar => {
    const value = values[at] ?? 0;
    const moment = formats.momentLabel(new Date(run.plannedFor ?? run.createdAt), context);
    return { value, title: `${moment}: ${show(value)}`, ...(run.status === 'failed' && { kind: 'fault' as const }) };
  });
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const top = roundUp(most);
  const range = least === most ? show(most) : tasks.range(show(least), show(most));
  const [first, last] = [runs[0], runs.at(-1)].map((run) => new Date(run?.createdAt ?? 0)) as [Date, Date];
  const [from, to] = [first, last].map((at) => formats.day(at, context));
  const isOneDay = from === to;
  return renderBars(bars, top, {
    label: tasks.measureOf(measure, runs.length, range),
    scale: tasks.scale(measure, show(top)),
    from: isOneDay ? formats.momentLabel(first, context) : (from ?? ''),
    to: isOneDay ? formats.time(last, context.timeZone) : (to ?? ''),
  });
}
