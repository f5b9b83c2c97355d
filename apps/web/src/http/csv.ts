export type CsvCell = string | number | null;

/** Spreadsheets read what begins so as a formula, and a prompt or a page that a model has read may have written it. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/;

/** A byte order mark: without one, some spreadsheets do not read UTF-8. */
const START = '\ufeff';

/** A file of comma-separated values, row by row. */
export async function* writeCsv(
  head: readonly string[],
  rows: AsyncIterable<readonly CsvCell[]>,
): AsyncGenerator<string> {
  yield `${START}${writeRow(head)}`;
  for await (const row of rows) yield writeRow(row);
}

const writeRow = (cells: readonly CsvCell[]): string => `${cells.map(writeCell).join(',')}\r\n`;

function writeCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return `"${text.replaceAll('"', '""')}"`;
}
