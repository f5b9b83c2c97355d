import type { Texts } from '@carillon/texts';
import { type Html, html } from '../html.ts';

/** A meter with its words, for a list of figures; a screen reader reads the words. `id` is the id of the name. */
export const renderShare = (id: string, { used, limit }: { used: number; limit: number }, text: string): Html =>
  html`<dd><meter aria-labelledby="${id}" min="0" max="${limit}" high="${Math.round(limit * 0.9)}" optimum="0" value="${Math.min(used, limit)}">${text}</meter>${text}</dd>`;

/** A part of a whole as a bar with its percentage. */
export const renderPart = (part: number, whole: number, { usage, formats }: Texts): Html => {
  const percent = whole > 0 ? (part / whole) * 100 : 0;
  const text = percent > 0 && percent < 1 ? usage.underOnePercent : formats.percent(Math.round(percent) / 100);
  return html`<span class="part">${text}<svg height="4" aria-hidden="true"><rect class="rest" width="100%" height="4" rx="2"/><rect width="${percent.toFixed(1)}%" height="4" rx="2"/></svg></span>`;
};
