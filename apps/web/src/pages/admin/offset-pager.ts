import type { Texts } from '@carillon/texts';
import { buildAddress } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';

interface Pagination {
  total: number;
  limit: number;
  offset: number;
}

const MAX_OFFSET = 2_147_483_647;

/** Where a list begins; 0 for anything but a number. */
export function readOffset({ offset = '' }: Readonly<Record<string, string>>): number {
  const parsed = /^\d{1,10}$/.test(offset) ? Number(offset) : 0;
  return Math.min(parsed, MAX_OFFSET);
}

/** Links to the other pages of a list of a known length. */
export function renderOffsetPager(
  { lists }: Texts,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  { total, limit, offset }: Pagination,
): Html {
  const link = (to: number, text: string, rel: 'prev' | 'next') =>
    html`<a class="button" rel="${rel}" href="${buildAddress(path, { ...query, offset: to > 0 ? String(to) : undefined })}">${text}</a>`;
  const last = Math.min(offset + limit, total);
  return html`<nav class="pager" aria-label="${lists.pages}"><span>${lists.range(Math.min(offset + 1, total), last, total)}</span><span class="do">${
    offset > 0 && link(Math.max(0, offset - limit), lists.previousPage, 'prev')
  }${last < total && link(offset + limit, lists.nextPage, 'next')}</span></nav>`;
}
