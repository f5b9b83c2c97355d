import { type Html, html } from '../html.ts';

export interface Bar {
  value: number;
  /** Such as `Mon 23 Feb: $0.03`. */
  title: string;
  kind?: 'fault' | 'short';
}

interface BarChartOptions {
  /** The whole picture in one sentence, with its range. */
  label: string;
  /** What the top line stands for, such as `cost, up to $0.10`. */
  scale: string;
  /** Below the first and the last bar. */
  from: string;
  to: string;
}

const HEIGHT = 92;
const TOP = 14;
const BOTTOM = 74;

/** The next number of 1, 2 or 5 times a power of ten: the top of a scale. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10);
}

/** The smallest amount that is written as a number. */
const SMALLEST_USD = 0.0001;

export const roundUpUsd = (usd: number): number => (usd > 0 ? Math.max(SMALLEST_USD, roundUp(usd)) : roundUp(usd));

/** Bars with positions in per cent, so that text does not shrink. `top` is the value of the top line. */
export function renderBars(bars: readonly Bar[], top: number, { label, scale, from, to }: BarChartOptions): Html {
  const share = 100 / Math.max(bars.length, 1);
  return html`<svg class="chart" height="${HEIGHT}" role="img" aria-label="${label}">
<line class="grid" x1="0" x2="100%" y1="${TOP}" y2="${TOP}"/><line class="rod" x1="0" x2="100%" y1="74.5" y2="74.5"/>
${bars.map(({ value, title, kind }, at) => {
  if (value <= 0) return null;
  const height = Math.max(1, (Math.min(value, top) / top) * (BOTTOM - TOP));
  return html`<rect class="bar ${kind}" x="${(at * share + share * 0.15).toFixed(2)}%" width="${(share * 0.7).toFixed(2)}%" y="${(BOTTOM - height).toFixed(1)}" height="${height.toFixed(1)}" rx="1.5"><title>${title}</title></rect>`;
})}
<text x="0" y="9">${scale}</text><text x="0" y="89">${from}</text><text x="100%" y="89" text-anchor="end">${to}</text>
</svg>`;
}
