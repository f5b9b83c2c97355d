import { roundUp } from '../../components/charts.ts';
import { type Html, html } from '../../html.ts';

export interface RunBar {
  completed: number;
  failed: number;
  /** Runs that have not ended. */
  live: number;
  /** Such as `Mon 23 Feb: 12 completed, 1 failed`. */
  title: string;
}

interface RunChartOptions {
  /** The whole picture in one sentence. */
  label: string;
  /** The scale, such as `up to 20 per hour`. */
  describeTop(count: number): string;
  /** Instead of it, where no run is. */
  none: string;
  /** Below the first and the last bar. */
  from: string;
  to: string;
}

const TOP = 14;
const REACH = 72;
const ROD = TOP + REACH;

/** Runs with an answer stand on the line, failed ones hang from it, and those without an end are hollow. */
export function renderRunChart(bars: readonly RunBar[], { label, describeTop, none, from, to }: RunChartOptions): Html {
  const above = Math.max(...bars.map(({ completed, live }) => completed + live));
  const below = Math.max(...bars.map(({ failed }) => failed));
  const top = roundUp(Math.max(above, below));
  const scale = (count: number) => (count === 0 ? 0 : Math.max(2, (count / top) * REACH));
  const depth = Math.max(4, scale(below));
  const share = 100 / bars.length;
  const draw = (name: string, at: number, y: number, height: number) =>
    height > 0 &&
    html`<rect class="bar ${name}" x="${(at * share + share * 0.15).toFixed(2)}%" width="${(share * 0.7).toFixed(2)}%" y="${y.toFixed(1)}" height="${height.toFixed(1)}" rx="1.5"/>`;
  return html`<svg class="chart" height="${Math.ceil(ROD + depth + 22)}" role="img" aria-label="${label}">
<line class="grid" x1="0" x2="100%" y1="${TOP}" y2="${TOP}"/><line class="rod" x1="0" x2="100%" y1="${ROD + 0.5}" y2="${ROD + 0.5}"/>
${bars.map(({ completed, failed, live, title }, at) => {
  const full = scale(completed);
  const open = scale(live);
  return html`<g><title>${title}</title>${draw('', at, ROD - full, full)}${draw('hollow', at, ROD - full - open, open)}${draw('fault', at, ROD + 1, scale(failed))}</g>`;
})}
<text x="0" y="9">${above + below === 0 ? none : describeTop(top)}</text><text x="0" y="${Math.ceil(ROD + depth + 18)}">${from}</text><text x="100%" y="${Math.ceil(ROD + depth + 18)}" text-anchor="end">${to}</text>
</svg>`;
}
