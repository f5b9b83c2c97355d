import { type Block, gapOf, type Inline, indent, joinBlocks, markerOf } from './tree.ts';

/** How a target differs from CommonMark. */
export interface MarkdownDialect {
  /** Makes untrusted text mean nothing but itself. */
  escape(text: string): string;
  /** What a target acts on even in code. */
  escapeCode?(text: string): string;
  /** An address that is its own text. */
  plainLink(url: string): string;
  /** Default: bold. */
  heading?: string;
  hasStrike: boolean;
  /** Whether there is code within a line. */
  hasCode: boolean;
  lineBreak: string;
  rule: string;
}

interface Style {
  dialect: MarkdownDialect;
  /** Headings within a list or a quote are bold. */
  isNested: boolean;
}

export const ZERO_WIDTH_SPACE = '\u200b';

/** Escapes what Markdown reads as formatting within a line. */
export const escapeMarkdown = (text: string) => text.replace(/[\\`*_[\]|~<>]/g, '\\$&');

export const COMMONMARK: MarkdownDialect = {
  escape: (text) => escapeMarkdown(text).replace(/&(?=[#a-z])/gi, '\\&'),
  plainLink: (url) => `<${url}>`,
  heading: '###',
  hasStrike: true,
  hasCode: true,
  lineBreak: '\n',
  rule: '---',
};

/** Renders blocks as Markdown of a target. Tables are for targets that have them. */
export function renderMarkdown(blocks: readonly Block[], dialect: MarkdownDialect): string {
  return renderBlocks(blocks, { dialect, isNested: false });
}

const renderBlocks = (blocks: readonly Block[], style: Style, gap?: string): string =>
  joinBlocks(blocks, (block) => renderBlock(block, style), gap);

function renderBlock(block: Block, style: Style): string {
  const { dialect, isNested } = style;
  const nested = { ...style, isNested: true };
  switch (block.type) {
    case 'paragraph':
      return renderLines(block.inlines, dialect);
    case 'heading':
      return dialect.heading !== undefined && !isNested
        ? `${dialect.heading} ${renderInlines(block.inlines, dialect, []).replace(/\s+/g, ' ')}`
        : renderLines([{ type: 'strong', inlines: block.inlines }], dialect);
    case 'code':
      return `\`\`\`${block.language}\n${escapeCode(block.text, dialect)}\n\`\`\``;
    case 'quote':
      return renderBlocks(block.blocks, nested).replace(/^/gm, '> ');
    case 'list':
      return block.items
        .map((item, at) => indent(markerOf(block.start, at), renderBlocks(item, nested, gapOf(item))))
        .join('\n');
    case 'table':
      return renderTable(block.rows, dialect);
    case 'rule':
      return dialect.rule;
  }
}

/** A fence in code would end it. */
const escapeCode = (text: string, dialect: MarkdownDialect) =>
  (dialect.escapeCode?.(text) ?? text).replace(/`{3,}/g, (run) => [...run].join(ZERO_WIDTH_SPACE));

function renderTable(rows: readonly string[][], dialect: MarkdownDialect): string {
  const [head = [], ...others] = rows;
  const lines = [head, head.map(() => '---'), ...others].map((row, at) =>
    head.map((_, cell) => (at === 1 ? '---' : dialect.escape(row[cell] ?? ''))).join(' | '),
  );
  return lines.map((line) => `| ${line} |`).join('\n');
}

/** Lines that begin like a heading, a list, a quote or a line below a heading are text. */
function renderLines(inlines: readonly Inline[], dialect: MarkdownDialect): string {
  return renderInlines(inlines, dialect, [])
    .split('\n')
    .map((line) => line.replace(/^[ \t]+|[ \t]+$/g, '').replace(/^(\d{0,9})([.)#+=-])/, '$1\\$2'))
    .join('\n');
}

const MARKS = { strong: '**', emphasis: '*', strike: '~~' };

function renderInlines(inlines: readonly Inline[], dialect: MarkdownDialect, within: readonly string[]): string {
  return inlines
    .map((inline) => {
      switch (inline.type) {
        case 'text':
          return dialect.escape(inline.text);
        case 'break':
          return dialect.lineBreak;
        case 'code':
          return renderCode(inline.text, dialect);
        case 'link':
          if (inline.text === inline.url) return dialect.plainLink(inline.url);
          return `[${dialect.escape(inline.text)}](${inline.url})`;
        default: {
          const inner = renderInlines(inline.inlines, dialect, [...within, inline.type]);
          const hasMark = !within.includes(inline.type) && (inline.type !== 'strike' || dialect.hasStrike);
          return hasMark ? surround(inner, MARKS[inline.type]) : inner;
        }
      }
    })
    .join('');
}

/** White space at the ends stays outside: with it inside, marks would be text. */
export function surround(inner: string, mark: string): string {
  const core = inner.trim();
  if (core === '') return inner;
  const start = inner.indexOf(core);
  return `${inner.slice(0, start)}${mark}${core}${mark}${inner.slice(start + core.length)}`;
}

function renderCode(text: string, dialect: MarkdownDialect): string {
  if (!dialect.hasCode) return dialect.escape(text);
  const code = escapeCode(text, dialect);
  if (code.trim() === '') return code;
  const longest = Math.max(0, ...[...code.matchAll(/`+/g)].map(([run]) => run.length));
  const mark = '`'.repeat(longest + 1);
  const space = longest > 0 ? ' ' : '';
  return `${mark}${space}${code}${space}${mark}`;
}
