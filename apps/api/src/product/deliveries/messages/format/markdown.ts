import { limitTables } from '@carillon/contract/validation/limit-tables';
import MarkdownIt, { type Token } from 'markdown-it';
import { buildLink } from './links.ts';
import { cleanLine, cleanText, cutText, takeCharacters } from './text.ts';
import { type Block, flatten, type Inline, paragraphOf, textOf } from './tree.ts';

const MAX_CELL_LENGTH = 200;
/** Longer than any target takes: the time for hostile texts grows with the square of their length. */
const MAX_LENGTH = 40_000;
/** Of emphasis in emphasis. */
const MAX_DEPTH = 10;

const markdown = new MarkdownIt({ html: false, linkify: true, typographer: false });
markdown.use(limitTables);
markdown.set({ maxNesting: 50 } as object);
// Only whole addresses: a file name such as `notes.md` is no link.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });

/** Parses the beginning of an answer. HTML is text, an image is a link to it, and links show where they lead. */
export function parseMarkdown(text: string, maxLength = MAX_LENGTH): Block[] {
  const beginning = takeCharacters(text, maxLength);
  const blocks = readBlocks(new Cursor(markdown.parse(cleanText(beginning), {})), null);
  return beginning === text ? blocks : [...blocks, paragraphOf(textOf('…'))];
}

/** Plain text, such as an error: its lines stay, nothing in it is formatting. */
export function parsePlain(text: string): Block[] {
  const paragraphs = cleanText(text)
    .trim()
    .split(/\n{2,}/);
  return paragraphs
    .filter((one) => one !== '')
    .map((one) => paragraphOf(...one.split('\n').flatMap((line, at) => [...(at > 0 ? [BREAK] : []), textOf(line)])));
}

const BREAK: Inline = { type: 'break' };

class Cursor {
  readonly tokens: readonly Token[];
  at = 0;
  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }
  next(): Token | undefined {
    return this.tokens[this.at++];
  }
}

function readBlocks(cursor: Cursor, end: string | null): Block[] {
  const blocks: Block[] = [];
  for (let token = cursor.next(); token && token.type !== end; token = cursor.next()) {
    const block = readBlock(cursor, token);
    if (block) blocks.push(block);
  }
  return blocks;
}

function readBlock(cursor: Cursor, token: Token): Block | null {
  switch (token.type) {
    case 'paragraph_open':
      return paragraphOf(...readInlineToken(cursor));
    case 'heading_open':
      return { type: 'heading', level: Number(token.tag.slice(1)), inlines: readInlineToken(cursor) };
    case 'fence':
    case 'code_block':
      return { type: 'code', language: readLanguage(token.info), text: token.content.replace(/\n$/, '') };
    case 'hr':
      return { type: 'rule' };
    case 'blockquote_open':
      return { type: 'quote', blocks: readBlocks(cursor, 'blockquote_close') };
    case 'bullet_list_open':
      return { type: 'list', start: null, items: readItems(cursor, 'bullet_list_close') };
    case 'ordered_list_open': {
      const start = Number(token.attrGet('start') ?? 1);
      return { type: 'list', start, items: readItems(cursor, 'ordered_list_close') };
    }
    case 'table_open':
      return { type: 'table', rows: readRows(cursor) };
    default:
      return null;
  }
}

const readLanguage = (info: string) => /^[\w+#-]{1,20}/.exec(info.trim())?.[0] ?? '';

function readItems(cursor: Cursor, end: string): Block[][] {
  const items: Block[][] = [];
  for (let token = cursor.next(); token && token.type !== end; token = cursor.next()) {
    if (token.type === 'list_item_open') items.push(readBlocks(cursor, 'list_item_close'));
  }
  return items;
}

function readRows(cursor: Cursor): string[][] {
  const rows: string[][] = [];
  for (let token = cursor.next(); token && token.type !== 'table_close'; token = cursor.next()) {
    if (token.type === 'tr_open') rows.push([]);
    if (token.type !== 'inline') continue;
    const text = cleanLine(flatten(readInlines(new Cursor(limitDepth(token.children ?? [])), null)));
    rows.at(-1)?.push(cutText(text, MAX_CELL_LENGTH));
  }
  return rows;
}

/** Reads the text of a paragraph or heading, and its end. */
function readInlineToken(cursor: Cursor): Inline[] {
  const inlines = readInlines(new Cursor(limitDepth(cursor.next()?.children ?? [])), null);
  cursor.next();
  return inlines;
}

/** Leaves out what opens and closes emphasis that is too deep. */
function limitDepth(tokens: readonly Token[]): Token[] {
  let depth = 0;
  return tokens.filter(({ type, nesting }) => {
    if (!SPAN.test(type)) return true;
    return nesting === 1 ? ++depth <= MAX_DEPTH : depth-- <= MAX_DEPTH;
  });
}

const SPAN = /^(strong|em|s)_(open|close)$/;
const SPANS = { strong: 'strong', em: 'emphasis', s: 'strike' } as const;

function readInlines(cursor: Cursor, end: string | null): Inline[] {
  const inlines: Inline[] = [];
  for (let token = cursor.next(); token && token.type !== end; token = cursor.next()) {
    const span = /^(strong|em|s)_open$/.exec(token.type)?.[1] as keyof typeof SPANS | undefined;
    if (span) inlines.push({ type: SPANS[span], inlines: readInlines(cursor, `${span}_close`) });
    else appendInlines(inlines, readInline(cursor, token));
  }
  return inlines;
}

/** Joins texts: formats look at what follows a character. */
function appendInlines(inlines: Inline[], added: readonly Inline[]): void {
  for (const inline of added) {
    const last = inlines.at(-1);
    if (inline.type === 'text' && last?.type === 'text') inlines[inlines.length - 1] = textOf(last.text + inline.text);
    else inlines.push(inline);
  }
}

function readInline(cursor: Cursor, token: Token): Inline[] {
  switch (token.type) {
    case 'code_inline':
      return [{ type: 'code', text: token.content }];
    case 'softbreak':
    case 'hardbreak':
      return [BREAK];
    case 'link_open':
      return [buildLink(String(token.attrGet('href') ?? ''), flatten(readInlines(cursor, 'link_close')))];
    case 'image':
      return [buildLink(String(token.attrGet('src') ?? ''), token.content)];
    default:
      // An entity such as `&#8238;` is a character only now.
      return token.content === '' ? [] : [textOf(cleanText(token.content))];
  }
}
