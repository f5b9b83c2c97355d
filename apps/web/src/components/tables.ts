import type { Texts } from '@carillon/texts';
import { type Html, html } from '../html.ts';

interface Column {
  head: Html | string;
  class?: string;
  /** For the column that the rows are sorted by. */
  sort?: 'ascending' | 'descending';
}

/** A table that folds on narrow screens. Roles are written out, because its rows become grids there. */
export const renderTable = (
  caption: string,
  columns: readonly Column[],
  rows: readonly Html[],
  { pick = false } = {},
): Html =>
  html`<div class="rows"><table class="stack${pick && ' pick'}" role="table"><caption class="vh">${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(
    ({ head, class: name, sort }) =>
      html`<th role="columnheader" scope="col"${name && html` class="${name}"`}${sort && html` aria-sort="${sort}"`}>${head}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">${rows}</tbody></table></div>`;

export const renderRow = (...cells: readonly Html[]): Html => html`<tr role="row">${cells}</tr>`;

interface CellOptions {
  class?: string;
  /** Shown before the content where the table is folded. */
  label?: string;
}

/** The cell that names a row. */
export const renderRowHead = (content: Html | string, { class: name }: CellOptions = {}): Html =>
  html`<th role="rowheader" scope="row"${name && html` class="${name}"`}>${content}</th>`;

export const renderCell = (content: Html | string | null, { class: name, label }: CellOptions = {}): Html =>
  html`<td role="cell"${name && html` class="${name}"`}${label && html` data-label="${label}"`}>${content}</td>`;

interface PagerOptions {
  /** The path of the list. */
  path: string;
  /** The filters of this page. */
  query: Readonly<Record<string, string | undefined>>;
  nextCursor: string | null;
  text: string;
  texts: Texts;
}

/** An address with the parts of a query that are set. */
export function buildAddress(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`;
}

/** Links to the other pages of a list. */
export const renderPager = ({ path, query, nextCursor, text, texts: { lists } }: PagerOptions): Html =>
  html`<nav class="pager" aria-label="${lists.pages}"><span>${text}</span><span class="do">${
    query.cursor &&
    html`<a class="button" href="${buildAddress(path, { ...query, cursor: undefined })}">${lists.firstPage}</a>`
  }${
    nextCursor !== null &&
    html`<a class="button" rel="next" href="${buildAddress(path, { ...query, cursor: nextCursor })}">${lists.nextPage}</a>`
  }</span></nav>`;
