import type { Block, Inline } from '../format/tree.ts';
import { look, type Markup, markup, trusted } from './styles.ts';

const LAST_LEVEL = 6;
const SPANS = { strong: 'strong', emphasis: 'em', strike: 's' } as const;

/** Renders an answer. Its headings continue the one above it, of level `above`. */
export function renderBlocks(blocks: readonly Block[], above: number): Markup {
  const tags = chooseHeadings(blocks, above);
  return markup`${blocks.map((block) => renderBlock(block, tags.get(block) ?? LAST_LEVEL))}`;
}

/** Levels leave none out, whichever the answer begins with. */
function chooseHeadings(blocks: readonly Block[], above: number): Map<Block, number> {
  const open: number[] = [];
  const levels = new Map<Block, number>();
  for (const block of blocks) {
    if (block.type !== 'heading') continue;
    while (open.length > 0 && (open.at(-1) as number) >= block.level) open.pop();
    open.push(block.level);
    levels.set(block, Math.min(above + open.length, LAST_LEVEL));
  }
  return levels;
}

function renderBlock(block: Block, level: number): Markup {
  switch (block.type) {
    case 'paragraph':
      return markup`<p dir="auto">${renderInlines(block.inlines)}</p>\n`;
    case 'heading': {
      const tag = trusted(`h${level}`);
      return markup`<${tag}${look('heading')} dir="auto">${renderInlines(block.inlines)}</${tag}>\n`;
    }
    case 'code':
      return markup`<pre${look('pre')}>${block.text}</pre>\n`;
    case 'quote':
      return markup`<blockquote${look('quote')}>${renderInner(block.blocks)}</blockquote>\n`;
    case 'list': {
      const items = block.items.map((item) => markup`<li dir="auto">${renderItem(item)}</li>\n`);
      if (block.start === null) return markup`<ul>\n${items}</ul>\n`;
      return markup`<ol${block.start !== 1 && markup` start="${block.start}"`}>\n${items}</ol>\n`;
    }
    case 'table':
      return renderTable(block.rows);
    case 'rule':
      return markup`<hr${look('rule')}>\n`;
  }
}

/** Headings in lists and quotes are no part of the outline. */
const renderInner = (blocks: readonly Block[]): Markup[] =>
  blocks.map((block) =>
    block.type === 'heading'
      ? markup`<p dir="auto"><strong>${renderInlines(block.inlines)}</strong></p>\n`
      : renderBlock(block, LAST_LEVEL),
  );

/** The lines of a list stay close together. */
function renderItem(blocks: readonly Block[]): Markup | Markup[] {
  const [first, ...others] = blocks;
  if (first?.type !== 'paragraph') return renderInner(blocks);
  return markup`${renderInlines(first.inlines)}${renderInner(others)}`;
}

function renderTable([head = [], ...rows]: readonly string[][]): Markup {
  return markup`<table${look('table')}>
<thead><tr>${head.map((cell) => markup`<th scope="col"${look('th')} dir="auto">${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row) => markup`<tr>${row.map((cell) => markup`<td${look('td')} dir="auto">${cell}</td>`)}</tr>\n`)}</tbody>
</table>\n`;
}

const renderInlines = (inlines: readonly Inline[]): Markup[] => inlines.map(renderInline);

function renderInline(inline: Inline): Markup {
  switch (inline.type) {
    case 'text':
      return markup`${inline.text}`;
    case 'break':
      return markup`<br>\n`;
    case 'code':
      return markup`<code${look('code')}>${inline.text}</code>`;
    case 'link':
      // The text has the address, and no hidden recipients.
      if (inline.url.startsWith('mailto:')) return markup`${inline.text}`;
      return markup`<a href="${inline.url}" rel="noopener noreferrer nofollow"${look('link')}>${inline.text}</a>`;
    default: {
      const tag = trusted(SPANS[inline.type]);
      return markup`<${tag}>${renderInlines(inline.inlines)}</${tag}>`;
    }
  }
}
