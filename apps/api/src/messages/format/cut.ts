import { takeCharacters } from './cut-text.ts';
import { type Block, type Inline, listOf, paragraphOf, textOf } from './tree.ts';

export interface Limit {
  /** In what `measure` counts, which is at least half a unit for a UTF-16 unit of text. */
  max: number;
  /** The size of the rendered blocks, as the target counts. */
  measure: (blocks: Block[]) => number;
  /** Of the page that shows everything. */
  url: string;
  /** What stands below the blocks and stays if they are cut, but for items of its list that take too much. */
  end?: EndingList | null;
}

export interface EndingList {
  title: Block;
  items: Block[][];
}

/** Of the room for blocks. */
const MAX_SHARE_OF_END = 1 / 3;

/** The blocks, or as much of their beginning as fits together with a link to the rest. Ends within no link. */
export function cutBlocks(blocks: Block[], { max, measure, url, end = null }: Limit): Block[] {
  const below = end === null ? [] : fitEnd(end, { max, measure });
  const whole = below.length > 0 ? [...blocks, ...below] : blocks;
  if (measure(whole) <= max) return whole;
  const rest = [buildMore(url), ...below];
  const fits = (taken: Block[]) => measure([...taken, ...rest]) <= max;
  return [...takeWhile(blocks, 2 * max, fits)[0], ...rest];
}

/** The title with as many items as fit, or nothing. */
function fitEnd({ title, items }: EndingList, { max, measure }: Pick<Limit, 'max' | 'measure'>): Block[] {
  const empty = measure([]);
  const limit = empty + (max - empty) * MAX_SHARE_OF_END;
  for (let count = items.length; count > 0; count--) {
    const blocks: Block[] = [title, listOf(items.slice(0, count))];
    if (measure(blocks) <= limit) return blocks;
  }
  return [];
}

/** What follows a text that was cut. */
export const buildMore = (url: string): Block =>
  paragraphOf(textOf('… ('), { type: 'link', url, text: 'continues in Carillon' }, textOf(')'));

/** Divides blocks into parts that `measure` gives at most `max`. What cannot be divided so far is left out. */
export function divideBlocks(blocks: Block[], max: number, measure: (blocks: Block[]) => number): Block[][] {
  const parts: Block[][] = [];
  let rest = blocks;
  while (rest.length > 0) {
    const [taken, left] = measure(rest) <= max ? [rest, []] : takeWhile(rest, 2 * max, (part) => measure(part) <= max);
    if (taken.length > 0) parts.push(taken);
    rest = taken.length > 0 ? left : rest.slice(1);
  }
  return parts;
}

/** The longest beginning that fits, up to `limit` units of text, and the rest. */
function takeWhile(blocks: Block[], limit: number, fits: (blocks: Block[]) => boolean): [Block[], Block[]] {
  let best: [Block[], Block[]] = [[], blocks];
  let low = 1;
  let high = Math.min(limit, countBlocks(blocks));
  while (low <= high) {
    const middle = (low + high) >> 1;
    const candidate = splitBlocks(blocks, middle);
    if (fits(candidate[0])) {
      best = candidate;
      low = middle + 1;
    } else high = middle - 1;
  }
  return best;
}

const sum = <T>(all: readonly T[], count: (one: T) => number) => all.reduce((total, one) => total + count(one), 0);

const countBlocks = (blocks: readonly Block[]): number => sum(blocks, countBlock);
const countInlines = (inlines: readonly Inline[]): number => sum(inlines, countInline);
const countRow = (row: readonly string[]) => 1 + sum(row, (cell) => cell.length);

function countBlock(block: Block): number {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return 1 + countInlines(block.inlines);
    case 'code':
      return 1 + block.text.length;
    case 'quote':
      return 1 + countBlocks(block.blocks);
    case 'list':
      return 1 + sum(block.items, countBlocks);
    case 'table':
      return 1 + sum(block.rows, countRow);
    case 'rule':
      return 1;
  }
}

function countInline(inline: Inline): number {
  if (inline.type === 'break') return 1;
  return 'inlines' in inline ? countInlines(inline.inlines) : inline.text.length;
}

type Split<T> = [head: T | null, tail: T | null];

/** Divides after so many units of text. */
function splitBlocks(blocks: readonly Block[], length: number): [Block[], Block[]] {
  return splitList(blocks, length, countBlock, splitBlock);
}

function splitList<T>(
  all: readonly T[],
  length: number,
  count: (one: T) => number,
  split: (one: T, length: number) => Split<T>,
): [T[], T[]] {
  let left = length;
  for (const [at, one] of all.entries()) {
    const size = count(one);
    if (size <= left) {
      left -= size;
      continue;
    }
    const [head, tail] = left > 0 ? split(one, left) : [null, one];
    return [
      [...all.slice(0, at), ...(head === null ? [] : [head])],
      [...(tail === null ? [] : [tail]), ...all.slice(at + 1)],
    ];
  }
  return [[...all], []];
}

function splitBlock(block: Block, length: number): Split<Block> {
  const left = length - 1;
  switch (block.type) {
    case 'paragraph':
    case 'heading': {
      const [head, tail] = splitList(block.inlines, left, countInline, splitInline);
      return [head.length > 0 ? { ...block, inlines: head } : null, { ...block, inlines: tail }];
    }
    case 'code': {
      const text = takeCharacters(block.text, left);
      const line = text.lastIndexOf('\n');
      // A whole line is easier to read, unless the lines are long.
      const end = line > text.length / 2 ? line : text.length;
      if (end === 0) return [null, block];
      const rest = block.text.slice(end).replace(/^\n/, '');
      return [{ ...block, text: block.text.slice(0, end) }, rest === '' ? null : { ...block, text: rest }];
    }
    case 'quote': {
      const [head, tail] = splitBlocks(block.blocks, left);
      return [head.length > 0 ? { ...block, blocks: head } : null, { ...block, blocks: tail }];
    }
    case 'list': {
      const [head, tail] = splitList(block.items, left, countBlocks, (item, rest): Split<Block[]> => {
        const [start, end] = splitBlocks(item, rest);
        return [start.length > 0 ? start : null, end];
      });
      const start = block.start === null ? null : block.start + head.length;
      return [head.length > 0 ? { ...block, items: head } : null, { ...block, start, items: tail }];
    }
    case 'table': {
      const [head, tail] = splitList(block.rows, left, countRow, (row): Split<string[]> => [null, row]);
      return [head.length > 0 ? { ...block, rows: head } : null, { ...block, rows: tail }];
    }
    case 'rule':
      return [null, block];
  }
}

function splitInline(inline: Inline, length: number): Split<Inline> {
  if (inline.type === 'break' || inline.type === 'link') return [null, inline];
  if ('inlines' in inline) {
    const [head, tail] = splitList(inline.inlines, length, countInline, splitInline);
    return [head.length > 0 ? { ...inline, inlines: head } : null, { ...inline, inlines: tail }];
  }
  const text = takeCharacters(inline.text, length);
  return [text === '' ? null : { ...inline, text }, { ...inline, text: inline.text.slice(text.length) }];
}
