import type { Texts } from '@carillon/texts';
import { type Html, html } from '../../html.ts';

/** Longer values are cut on a page. */
const MAX_CHARACTERS = 20_000;
const MAX_ROWS = 200;
const MAX_COLUMNS = 8;
/** Longer texts have no place in a cell. */
const MAX_CELL = 400;

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

const isFlat = (value: unknown): value is Fields =>
  isFields(value) && Object.values(value).every((one) => isScalar(one) && String(one).length <= MAX_CELL);

/** The columns of a list of objects that fit into a table; null for any other value. */
function findColumns(value: unknown): string[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ROWS || !value.every(isFlat)) return null;
  const columns = [...new Set(value.flatMap(Object.keys))];
  return columns.length > 0 && columns.length <= MAX_COLUMNS ? columns : null;
}

/** A value that is no list and no object. */
export function renderScalar({ runs }: Texts, value: unknown): Html {
  if (value === null) return html`<span class="muted">null</span>`;
  if (typeof value === 'boolean') return html`${value ? runs.yes : runs.no}`;
  return html`<span class="plain-text">${String(value)}</span>`;
}

function renderJson(value: unknown): Html {
  const text = JSON.stringify(value, null, 2);
  return html`<pre tabindex="0">${text.slice(0, MAX_CHARACTERS)}${text.length > MAX_CHARACTERS && ' …'}</pre>`;
}

const isNumeric = (rows: readonly Fields[], column: string) =>
  rows.every((row) => row[column] === undefined || typeof row[column] === 'number');

const renderTable = (texts: Texts, name: string, rows: readonly Fields[], columns: readonly string[]): Html =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${name}"><table><thead><tr>${columns.map(
    (column) => html`<th scope="col"${isNumeric(rows, column) && html` class="num"`}>${column}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) =>
      html`<tr>${columns.map(
        (column) =>
          html`<td${isNumeric(rows, column) && html` class="num"`}>${Object.hasOwn(row, column) && renderScalar(texts, row[column])}</td>`,
      )}</tr>`,
  )}</tbody></table></div>`;

function renderValue(texts: Texts, name: string, value: unknown): Html {
  if (isScalar(value)) return renderScalar(texts, value);
  if (Array.isArray(value) && value.length === 0) return html`<span class="muted">${texts.runs.answerNone}</span>`;
  if (Array.isArray(value) && value.length <= MAX_ROWS && value.every(isScalar)) {
    return html`<ul>${value.map((one) => html`<li>${renderScalar(texts, one)}</li>`)}</ul>`;
  }
  const columns = findColumns(value);
  return columns ? renderTable(texts, name, value as Fields[], columns) : renderJson(value);
}

/** The parsed answer of a task with a schema: pairs of names and values, with lists of objects as tables. */
export function renderOutput(output: unknown, texts: Texts): Html {
  if (!isFields(output) || Object.keys(output).length === 0) return renderJson(output);
  if (JSON.stringify(output).length > MAX_CHARACTERS) return renderJson(output);
  return html`<dl class="facts output">${Object.entries(output).map(
    ([name, value]) => html`<dt>${name}</dt><dd>${renderValue(texts, name, value)}</dd>`,
  )}</dl>`;
}
