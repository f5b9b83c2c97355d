/** What all kinds of channels render. Made from untrusted text by `parseMarkdown`, which checks links. */
export type Block =
  | { type: 'paragraph'; inlines: Inline[] }
  | { type: 'heading'; level: number; inlines: Inline[] }
  | { type: 'code'; language: string; text: string }
  | { type: 'quote'; blocks: Block[] }
  | { type: 'list'; start: number | null; items: Block[][] }
  /** The first row is the header. */
  | { type: 'table'; rows: string[][] }
  | { type: 'rule' };

export type Inline =
  | { type: 'text'; text: string }
  | { type: 'break' }
  | { type: 'strong' | 'emphasis' | 'strike'; inlines: Inline[] }
  | { type: 'code'; text: string }
  /** `text` says where the link leads, or is the address itself. */
  | { type: 'link'; url: string; text: string };

export const textOf = (text: string): Inline => ({ type: 'text', text });

export const paragraphOf = (...inlines: Inline[]): Block => ({ type: 'paragraph', inlines });

export const listOf = (items: readonly Block[][]): Block => ({ type: 'list', start: null, items: [...items] });

/** The text without formatting, in one line. */
export function flatten(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      if (inline.type === 'break') return ' ';
      return 'inlines' in inline ? flatten(inline.inlines) : inline.text;
    })
    .join('');
}

/** The text of blocks for readers of plain text: code as it is, links as `text (host): address`. */
export function toPlainText(blocks: readonly Block[]): string {
  return joinBlocks(blocks, renderBlock);
}

/** Renders blocks with `gap` between them, by default an empty line. Empty ones are left out. */
export function joinBlocks(blocks: readonly Block[], render: (block: Block) => string, gap = '\n\n'): string {
  let text = '';
  for (const block of blocks) {
    const rendered = render(block);
    if (rendered.trim() !== '') text += text === '' ? rendered : `${gap}${rendered}`;
  }
  return text;
}

function renderBlock(block: Block): string {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return renderInlines(block.inlines);
    case 'code':
      return block.text;
    case 'quote':
      return toPlainText(block.blocks).replace(/^/gm, '> ');
    case 'list':
      return block.items
        .map((item, at) => indent(markerOf(block.start, at), joinBlocks(item, renderBlock, gapOf(item))))
        .join('\n');
    case 'table':
      return alignTable(block.rows);
    case 'rule':
      return '———';
  }
}

const renderInlines = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => {
      if (inline.type === 'break') return '\n';
      if (inline.type === 'link') return inline.text === inline.url ? inline.url : `${inline.text}: ${inline.url}`;
      return 'inlines' in inline ? renderInlines(inline.inlines) : inline.text;
    })
    .join('');

/** Between the blocks of an item: a list in a list follows its line. */
export const gapOf = (item: readonly Block[]) => (item.slice(1).every(({ type }) => type === 'list') ? '\n' : '\n\n');

/** Of an item of a list: `- ` or `3. `. */
export const markerOf = (start: number | null, at: number) => (start === null ? '- ' : `${start + at}. `);

/** The marker before the first line, as much space before the others. */
export const indent = (marker: string, text: string) =>
  `${marker}${text.replace(/\n(?!\n|$)/g, `\n${' '.repeat(marker.length)}`)}`;

/** A table for a font whose characters have the same width. */
export function alignTable(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => [...(row[at] ?? '')].length)));
  const lines = rows.map((row) =>
    widths
      .map((width, at) => `${row[at] ?? ''}${' '.repeat(width - [...(row[at] ?? '')].length)}`)
      .join('  ')
      .trimEnd(),
  );
  const line = widths.map((width) => '-'.repeat(width)).join('  ');
  return [lines[0] ?? '', line, ...lines.slice(1)].join('\n');
}

/** For targets without tables. */
export function replaceTables(blocks: readonly Block[]): Block[] {
  return blocks.map((block): Block => {
    if (block.type === 'table') return { type: 'code', language: '', text: alignTable(block.rows) };
    if (block.type === 'quote') return { ...block, blocks: replaceTables(block.blocks) };
    if (block.type === 'list') return { ...block, items: block.items.map(replaceTables) };
    return block;
  });
}
