import type { MarkdownIt } from 'markdown-it';

const MAX_COLUMNS = 30;
const MAX_CELLS = 1000;
/** Of all tables of a text: short rows are filled up, so that each byte may become several cells. */
const MAX_CELLS_OF_TEXT = 5000;

/** Makes a paragraph of a table that is too large, so that rendering takes time in proportion to the text. */
export function limitTables(markdown: MarkdownIt): void {
  const { ruler } = markdown.block;
  const [parseTable] = ruler.getRules('');
  if (!parseTable) throw new Error('Markdown without blocks cannot have tables.');
  ruler.at(
    'table',
    (state, start, end, silent) => {
      if (!parseTable(state, start, end, true)) return false;
      if (silent) return true;
      const columns = state
        .getLines(start + 1, start + 2, 0, false)
        .split('|')
        .filter((cell) => cell.trim() !== '').length;
      const terminators = ruler.getRules('blockquote');
      const isRow = (line: number) =>
        line < end &&
        !state.isEmpty(line) &&
        state.sCount[line]! >= state.blkIndent &&
        !terminators.some((isStart) => isStart(state, line, end, true));
      let last = start + 2;
      while (isRow(last)) last++;
      const cells = columns * (last - start - 1);
      const cellsBefore = Number(state.env.cells ?? 0);
      if (columns <= MAX_COLUMNS && cells <= MAX_CELLS && cellsBefore + cells <= MAX_CELLS_OF_TEXT) {
        state.env.cells = cellsBefore + cells;
        return parseTable(state, start, end, false);
      }
      state.push('paragraph_open', 'p', 1).map = [start, last];
      const text = state.push('inline', '', 0);
      text.content = state.getLines(start, last, state.blkIndent, false).trim();
      text.map = [start, last];
      text.children = [];
      state.push('paragraph_close', 'p', -1);
      state.line = last;
      return true;
    },
    { alt: ['paragraph', 'reference'] },
  );
}
