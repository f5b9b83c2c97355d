import { limitTables } from '@carillon/contract/validation/limit-tables';
import type { Texts } from '@carillon/texts';
import MarkdownIt, { type Token } from 'markdown-it';
import { type Html, raw } from '../../html.ts';

/**
 * Answers come from models that read the web, so nothing in them is trusted: HTML is text, images are not loaded, and links
 * lead to the web only and say where they go.
 */
const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable(['image']);
markdown.use(limitTables);
markdown.validateLink = (url) => /^https?:\/\//i.test(url);

// The policy of pages allows no style attribute, which columns of numbers would have.
for (const rule of ['th_open', 'td_open'] as const) {
  markdown.renderer.rules[rule] = (tokens, index, options, _env, renderer) => {
    const token = tokens[index]!;
    const isRight = token.attrGet('style') === 'text-align:right';
    token.attrs = isRight ? [['class', 'num']] : null;
    return renderer.renderToken(tokens, index, options);
  };
}
// A wide table scrolls by itself, also with the keyboard.
markdown.renderer.rules.table_open = (_tokens, _index, _options, env) =>
  `<div class="scroll" role="group" aria-label="${(env as Texts).runs.answerTable}" tabindex="0">\n<table>\n`;
markdown.renderer.rules.table_close = () => '</table>\n</div>\n';
markdown.renderer.rules.link_open = (tokens, index, options, _env, renderer) => {
  tokens[index]!.attrSet('rel', 'noopener noreferrer nofollow');
  return renderer.renderToken(tokens, index, options);
};

/** The last heading of the page above an answer. */
const PAGE_LEVEL = 2;
const LAST_LEVEL = 6;

interface Heading {
  id: string;
  text: string;
}

/** Headings of a long answer that make a table of contents, and at most this many. */
const MIN_HEADINGS = 3;
const MAX_HEADINGS = 30;
const MIN_LENGTH = 3000;

/** Renders the text of an answer, with links to the headings of a long one. */
export function renderWithContents(text: string, texts: Texts): { content: Html; headings: readonly Heading[] } {
  const tokens = markdown.parse(text, {});
  const headings = text.length < MIN_LENGTH ? [] : nameHeadings(tokens);
  nestHeadings(tokens);
  return { content: raw(markdown.renderer.render(tokens, markdown.options, texts)), headings };
}

/** Gives ids to the headings of the two highest levels. */
function nameHeadings(tokens: readonly Token[]): Heading[] {
  const opened = tokens.flatMap((token, at) =>
    token.type === 'heading_open' && token.level === 0 ? [{ token, at }] : [],
  );
  const [first, second] = [...new Set(opened.map(({ token }) => token.tag))].sort();
  // A single heading above all others is the title.
  const tags = opened.filter(({ token }) => token.tag === first).length > 1 ? [first] : [second];
  const named = opened.filter(({ token }) => tags.includes(token.tag));
  if (named.length < MIN_HEADINGS || named.length > MAX_HEADINGS) return [];
  return named.map(({ token, at }, index) => {
    const id = `part-${index + 1}`;
    token.attrSet('id', id);
    return { id, text: readInline(tokens[at + 1]!) };
  });
}

/** Renders the text of an answer. */
export function renderMarkdown(text: string, texts: Texts): Html {
  const tokens = markdown.parse(text, {});
  nestHeadings(tokens);
  return raw(markdown.renderer.render(tokens, markdown.options, texts));
}

/** What is read of an answer, without its marks: a line for each paragraph, heading, item, row of a table and line of code. */
export function readLines(text: string): string[] {
  const lines: string[] = [];
  let cells: string[] | null = null;
  let mark = '';
  for (const token of markdown.parse(text, {})) {
    switch (token.type) {
      // Without its number, which changes with each item before it.
      case 'list_item_open':
        mark = '• ';
        break;
      case 'tr_open':
        cells = [];
        break;
      case 'tr_close':
        lines.push((cells ?? []).join(' · '));
        cells = null;
        break;
      case 'inline':
        if (cells) cells.push(readInline(token));
        else for (const line of readInline(token).split('\n')) lines.push(mark + line);
        mark = '';
        break;
      case 'fence':
      case 'code_block':
        lines.push(...token.content.replace(/\n$/, '').split('\n'));
    }
  }
  return lines.filter((line) => line.trim() !== '');
}

const readInline = ({ children, content }: Token): string =>
  children === null || children.length === 0
    ? content
    : children
        .map(({ type, content }) => (type === 'softbreak' ? ' ' : type === 'hardbreak' ? '\n' : content))
        .join('');

/** Headings continue those of the page and skip no level, whichever level the answer begins with. */
function nestHeadings(tokens: readonly Token[]): void {
  const open: number[] = [];
  let tag = '';
  for (const token of tokens) {
    if (token.type === 'heading_open') {
      const level = Number(token.tag.slice(1));
      while (open.length > 0 && open.at(-1)! >= level) open.pop();
      open.push(level);
      tag = `h${Math.min(PAGE_LEVEL + open.length, LAST_LEVEL)}`;
    }
    if (token.type === 'heading_open' || token.type === 'heading_close') token.tag = tag;
  }
}
