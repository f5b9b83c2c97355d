import { getTexts, type Language } from '@carillon/texts';
import { takeCharacters } from './text.ts';
import { type Block, type Inline, listOf, paragraphOf, textOf } from './tree.ts';

export interface Limit {
  /** In what `measure` counts, which is at least half a unit for a UTF-16 unit of text. */
  max: number;
  /** The size of the rendered blocks, as the target counts. */
  measure: (blocks: Block[]) => number;
  /** Of the page that shows everything. */
  url: string;
  /** Of the reader. */
  language: Language;
  /** What stands below the blocks and stays if they are cut, but for items of its list that take too much. */
  end?: EndingList | null;
}

type Room = Pick<Limit, 'max' | 'measure'>;

export interface EndingList {
  title: Block;
  items: Block[][];
}

/** Of the room for blocks. */
const MAX_SHARE_OF_END = 1 / 3;

/** The blocks, or as much of their beginning as fits together with a link to the rest. Ends within no link. */
export function cutBlocks(blocks: Block[], { max, measure, url, language, end = null }: Limit): Block[] {
  const below = end === null ? [] : fitEnd(end, { max, measure });
  const whole = below.length > 0 ? [...blocks, ...below] : blocks;
  if (measure(whole) <= max) return whole;
  const rest = [buildMore(url, language), ...below];
  return [...takeBeginning(blocks, { max, measure }, rest)[0], ...rest];
}

/** The title with as many items as fit, or nothing. */
function fitEnd({ title, items }: EndingList, { max, measure }: Room): Block[] {
  const empty = measure([]);
  const limit = empty + (max - empty) * MAX_SHARE_OF_END;
  for (let count = items.length; count > 0; count--) {
    const blocks: Block[] = [title, listOf(items.slice(0, count))];
    if (measure(blocks) <= limit) return blocks;
  }
  return [];
}

/** What follows a text that was cut. */
export const buildMore = (url: string, language: Language): Block =>
  paragraphOf(textOf('… ('), { type: 'link', url, text: getTexts(language).messages.continues }, textOf(')'));

/** Divides blocks into parts that `measure` gives at most `max`. What cannot be divided so far is left out. */
export function divideBlocks(blocks: Block[], max: number, measure: (blocks: Block[]) => number): Block[][] {
  const parts: Block[][] = [];
  let rest = blocks;
  while (rest.length > 0) {
    const [taken, left] = takeBeginning(rest, { max, measure }, []);
    if (taken.length > 0) parts.push(taken);
    rest = taken.length > 0 ? left : rest.slice(1);
  }
  return parts;
}

/** A long beginning that fits above `below`, and the rest. */
function takeBeginning(blocks: Block[], { max, measure }: Room, below: Block[]): [Block[], Block[]] {
  let room = max - (below.length > 0 ? measure([RULE, ...below]) - measure([RULE]) : 0);
  for (;;) {
    const [taken, left] = splitBlocks(blocks, { room, measure });
    // Formats may write a block longer among others: then there is less room.
    const excess = measure([...taken, ...below]) - max;
    if (excess <= 0 || taken.length === 0) return [taken, left];
    room -= excess;
  }
}

const RULE: Block = { type: 'rule' };
const LETTER = textOf('x');

type Split<T> = [head: T | null, tail: T | null];

/** How large the parts may be together, as `measure` counts them. */
interface Space<P> {
  room: number;
  measure: (parts: P) => number;
}

/** Divides at the part that does not fit any more. Measures each part before it once, alone. */
function splitParts<T>(
  all: readonly T[],
  { room, measure }: Space<T[]>,
  sample: T,
  split: (part: T, space: Space<T>) => Split<T>,
): [T[], T[]] {
  const empty = measure([]);
  const gap = measure([sample, sample]) - 2 * measure([sample]) + empty;
  let left = room - empty + gap;
  for (const [at, part] of all.entries()) {
    const size = measure([part]) - empty + gap;
    if (size <= left) {
      left -= size;
      continue;
    }
    const [head, tail] = split(part, { room: left + empty - gap, measure: (one) => measure([one]) });
    return [
      [...all.slice(0, at), ...(head === null ? [] : [head])],
      [...(tail === null ? [] : [tail]), ...all.slice(at + 1)],
    ];
  }
  return [[...all], []];
}

const splitBlocks = (blocks: readonly Block[], space: Space<Block[]>) => splitParts(blocks, space, RULE, splitBlock);

/** Measures between letters, because spaces and breaks at the ends of a line count nothing. */
function splitInlines(inlines: readonly Inline[], { room, measure }: Space<Inline[]>) {
  const between = (some: Inline[]) => measure([LETTER, ...some, LETTER]);
  return splitParts(inlines, { room: room + between([]) - measure([]), measure: between }, LETTER, splitInline);
}

function splitBlock(block: Block, { room, measure }: Space<Block>): Split<Block> {
  switch (block.type) {
    case 'paragraph':
    case 'heading': {
      const space = { room, measure: (inlines: Inline[]) => measure({ ...block, inlines }) };
      const [head, tail] = splitInlines(block.inlines, space);
      return [head.length > 0 ? { ...block, inlines: head } : null, { ...block, inlines: tail }];
    }
    case 'code': {
      const text = takeText(block.text, { room, measure: (some) => measure({ ...block, text: some }) });
      const line = text.lastIndexOf('\n');
      // A whole line is easier to read, unless the lines are long.
      const end = line > text.length / 2 ? line : text.length;
      if (end === 0) return [null, block];
      const rest = block.text.slice(end).replace(/^\n/, '');
      return [{ ...block, text: block.text.slice(0, end) }, rest === '' ? null : { ...block, text: rest }];
    }
    case 'quote': {
      const [head, tail] = splitBlocks(block.blocks, { room, measure: (blocks) => measure({ ...block, blocks }) });
      return [head.length > 0 ? { ...block, blocks: head } : null, { ...block, blocks: tail }];
    }
    case 'list': {
      const space = { room, measure: (items: Block[][]) => measure({ ...block, items }) };
      const [head, tail] = splitParts(block.items, space, [RULE], (item, itemSpace): Split<Block[]> => {
        const [start, end] = splitBlocks(item, itemSpace);
        return [start.length > 0 ? start : null, end];
      });
      const start = block.start === null ? null : block.start + head.length;
      return [head.length > 0 ? { ...block, items: head } : null, { ...block, start, items: tail }];
    }
    case 'table': {
      const [top = [], ...rows] = block.rows;
      const space = { room, measure: (some: string[][]) => measure({ ...block, rows: [top, ...some] }) };
      if (space.measure([]) > room) return [null, block];
      const [head, tail] = splitParts(rows, space, top, (row): Split<string[]> => [null, row]);
      return [
        { ...block, rows: [top, ...head] },
        { ...block, rows: tail },
      ];
    }
    case 'rule':
      return [null, block];
  }
}

function splitInline(inline: Inline, { room, measure }: Space<Inline>): Split<Inline> {
  if (inline.type === 'break' || inline.type === 'link') return [null, inline];
  if ('inlines' in inline) {
    const [head, tail] = splitInlines(inline.inlines, { room, measure: (inlines) => measure({ ...inline, inlines }) });
    return [head.length > 0 ? { ...inline, inlines: head } : null, { ...inline, inlines: tail }];
  }
  const text = takeText(inline.text, { room, measure: (some) => measure({ ...inline, text: some }) });
  return [text === '' ? null : { ...inline, text }, { ...inline, text: inline.text.slice(text.length) }];
}

/** The longest beginning that fits. */
function takeText(text: string, { room, measure }: Space<string>): string {
  let best = '';
  let low = 1;
  let high = Math.min(text.length, Math.max(0, Math.floor(2 * room)));
  while (low <= high) {
    const middle = (low + high) >> 1;
    const candidate = takeCharacters(text, middle);
    if (measure(candidate) <= room) {
      best = candidate;
      low = middle + 1;
    } else high = middle - 1;
  }
  return best;
}
