import { alignTable, indent, markerOf } from './plain-text.ts';
import type { Block, Inline } from './tree.ts';

export interface MarkdownOptions {
  /** Makes what a target may take for a mention, or for markup of its own, into text. Default: nothing. */
  defuse?: (text: string, isCode: boolean) => string;
}

/** Renders CommonMark, with `~~` for what is struck out. HTML and Markdown in texts are escaped. */
export function renderMarkdown(blocks: readonly Block[], options: MarkdownOptions = {}): string {
  const { defuse = (text) => text } = options;

  const renderAll = (all: readonly Block[]): string =>
    all
      .map(renderBlock)
      .filter((text) => text !== '')
      .join('\n\n');

  const renderBlock = (block: Block): string => {
    switch (block.type) {
      case 'paragraph':
        return renderLines(block.inlines);
      case 'heading': {
        const text = renderLines(block.inlines).replaceAll(/ *\n/g, ' ');
        return text === '' ? '' : `${'#'.repeat(block.level)} ${text}`;
      }
      case 'code':
        return renderFence(defuse(block.text, true), block.language);
      case 'quote':
        return renderAll(block.blocks).replace(/^/gm, '> ');
      case 'list':
        return block.items.map((item, at) => indent(markerOf(block.start, at), renderAll(item))).join('\n');
      case 'table':
        return renderFence(defuse(alignTable(block.rows), true), '');
      case 'rule':
        return '---';
    }
  };

  const renderLines = (inlines: readonly Inline[]) =>
    renderInlines(inlines)
      .split('\n')
      .map((line) => escapeStart(line.trimStart()))
      .join('\n')
      .trim();

  const renderInlines = (inlines: readonly Inline[]): string => inlines.map(renderInline).join('');

  const renderInline = (inline: Inline): string => {
    switch (inline.type) {
      case 'text':
        return escapeMarkdown(defuse(inline.text, false));
      case 'break':
        return '  \n';
      case 'code':
        return renderSpan(defuse(inline.text, true));
      case 'link':
        if (inline.text === inline.url) return `<${inline.url}>`;
        return `[${escapeMarkdown(defuse(inline.text, false))}](${inline.url})`;
      default: {
        const mark = { strong: '**', emphasis: '*', strike: '~~' }[inline.type];
        const text = renderInlines(inline.inlines);
        const core = text.trim();
        // With white space inside, marks are text.
        return core === '' ? text : text.replace(core, () => `${mark}${core}${mark}`);
      }
    }
  };

  return renderAll(blocks);
}

const escapeMarkdown = (text: string) => text.replace(/[\\`*_[\]<>~|]|&(?=[#A-Za-z])/g, '\\$&');

/** What starts a heading, a list or a line. */
const escapeStart = (line: string) => line.replace(/^([#+=-]|\d+(?=[.)]))/, (start) => escapeMarker(start));
const escapeMarker = (start: string) => (/\d/.test(start) ? `${start}\\` : `\\${start}`);

/** Longer than any run of backticks in the text. */
function chooseFence(text: string, shortest: number): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
  return '`'.repeat(Math.max(shortest, longest + 1));
}

function renderSpan(text: string): string {
  if (text.trim() === '') return text;
  const fence = chooseFence(text, 1);
  const space = /^`|`$|^ .* $/.test(text) ? ' ' : '';
  return `${fence}${space}${text}${space}${fence}`;
}

function renderFence(text: string, language: string): string {
  const fence = chooseFence(text, 3);
  return `${fence}${language}\n${text}\n${fence}`;
}
