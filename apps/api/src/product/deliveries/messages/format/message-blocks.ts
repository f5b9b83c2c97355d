import type { OutputChange } from '@carillon/db';
import { describeLines, describeValue } from '../../../../lib/differences/describe-changes.ts';
import type { ChannelMessage } from '../message.ts';
import { buildMore, cutBlocks, type EndingList, type Limit } from './cut.ts';
import { buildLink } from './links.ts';
import { parseMarkdown, parsePlain } from './markdown.ts';
import { replaceTables, toPlainText } from './plain-text.ts';
import { cleanLine, cleanText, cutText, takeCharacters } from './text.ts';
import { type Block, type Inline, paragraphOf, textOf } from './tree.ts';

export const CUT_OFF = 'This answer is cut off: it reached the maximum length.';
const MAX_CHANGES = 20;
const MAX_SOURCES = 5;
const MAX_SOURCE_TITLE = 100;
/** More than any chat shows. Parsing takes up to the square of the length. */
const MAX_ANSWER_LENGTH = 20_000;
const MAX_ITEM_TITLE = 200;
/** Of a message in a digest, in UTF-16 units. */
const ITEM_LENGTH = 500;
/** What of its answer is parsed, because links are shorter when they are shown. */
const ITEM_SOURCE_LENGTH = 5000;

/** How a level is shown: never by colour alone. Colours are RGB. */
export const LEVELS: Record<ChannelMessage['level'], { emoji: string; label: string; color: number }> = {
  success: { emoji: '✅', label: 'Completed', color: 0x2e7d32 },
  failure: { emoji: '❌', label: 'Failed', color: 0xc62828 },
  alert: { emoji: '🔔', label: 'Alert', color: 0xe65100 },
  recovery: { emoji: '✅', label: 'Recovered', color: 0x2e7d32 },
  notice: { emoji: 'ℹ️', label: 'Notice', color: 0x1565c0 },
};

/** One line such as `✅ Prices`. */
export const describeTitle = ({ level, title }: ChannelMessage) =>
  `${LEVELS[level].emoji} ${cleanLine(title) || LEVELS[level].label}`;

/** One line such as `Completed · 2026-11-20 10:00 UTC`. */
export const describeStatus = ({ level, at }: ChannelMessage) =>
  `${LEVELS[level].label} · ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/**
 * All of a message but its title, level, time, link and sources: text, changes, answer, the messages of a digest. Of a text longer
 * than `maxLength` UTF-16 units the beginning with a link to the rest.
 */
export function describeMessage(message: ChannelMessage, maxLength = MAX_ANSWER_LENGTH): Block[] {
  const { text, changes, markdown, items, isCut: isAnswerCut = false } = message;
  const shownText = text === null ? null : takeCharacters(text, maxLength);
  const shownAnswer = markdown === null ? null : takeCharacters(markdown, maxLength);
  const isCut = shownText !== text || shownAnswer !== markdown;
  return [
    ...(shownText === null ? [] : parsePlain(shownText)),
    ...describeOutputChanges(changes),
    ...(isAnswerCut ? [paragraphOf({ type: 'emphasis', inlines: [textOf(CUT_OFF)] })] : []),
    ...(changes.length > 0 && shownAnswer !== null ? [headingOf('The answer')] : []),
    ...(shownAnswer === null ? [] : parseMarkdown(shownAnswer, maxLength)),
    ...items.flatMap(describeItem),
    ...(isCut ? [buildMore(message.url)] : []),
  ];
}

interface Room extends Pick<Limit, 'max' | 'measure'> {
  /** Default: false. Tables are shown as text then. */
  hasTables?: boolean;
}

/** What a channel shows below the title of a message. The answer is cut before its sources are. */
export function fitMessage(message: ChannelMessage, { max, measure, hasTables = false }: Room): Block[] {
  const blocks = describeMessage(message);
  const limit = { max, measure, url: message.url, end: describeSources(message) };
  return cutBlocks(hasTables ? blocks : replaceTables(blocks), limit);
}

/** The first pages that the answer cites, or null without any. Those of the messages of a digest are on their pages only. */
export function describeSources({ citations }: Pick<ChannelMessage, 'citations'>): EndingList | null {
  if (citations.length === 0) return null;
  const items = citations
    .slice(0, MAX_SOURCES)
    .map(({ url, title }) => [paragraphOf(buildLink(url, cutText(cleanLine(title), MAX_SOURCE_TITLE)))]);
  return { title: headingOf('Sources'), items };
}

function describeItem(message: ChannelMessage, index: number): Block[] {
  const { url } = message;
  const title: Inline = { type: 'strong', inlines: [textOf(cutText(describeTitle(message), MAX_ITEM_TITLE))] };
  const link: Inline = { type: 'link', url, text: 'open' };
  const measure = (blocks: Block[]) => toPlainText(blocks).length;
  return [
    ...(index > 0 ? [{ type: 'rule' } as const] : []),
    paragraphOf(title, textOf(` · ${describeStatus(message)} · `), link),
    ...cutBlocks(describeMessage(message, ITEM_SOURCE_LENGTH), { max: ITEM_LENGTH, measure, url }),
  ];
}

/** What differs from the last success: a line for each value, the lines of a text. */
function describeOutputChanges(changes: readonly OutputChange[]): Block[] {
  if (changes.length === 0) return [];
  const isLeftOut = ({ from, to }: OutputChange) => from === undefined && to === undefined;
  const isText = (one: OutputChange) => one.path === '' && typeof one.from === 'string' && typeof one.to === 'string';
  const values = changes.filter((one) => !isText(one) && !isLeftOut(one));
  const hasMore = values.length > MAX_CHANGES || changes.some(isLeftOut);
  const items: Block[][] = values
    .slice(0, MAX_CHANGES)
    .map(({ path, from, to }) => [
      paragraphOf(
        textOf(`${cleanLine(path) || 'the whole output'}: `),
        { type: 'code', text: cleanLine(describeValue(from)) },
        textOf(' → '),
        { type: 'code', text: cleanLine(describeValue(to)) },
      ),
    ]);
  if (hasMore) items.push([paragraphOf(textOf('… and further changes'))]);
  const texts: Block[] = changes.filter(isText).map(({ from, to }) => {
    const text = cleanText(describeLines(from as string, to as string));
    return { type: 'code', language: 'diff', text };
  });
  const list: Block[] = items.length > 0 ? [{ type: 'list', start: null, items }] : [];
  return [headingOf('What changed'), ...list, ...texts];
}

export const headingOf = (text: string): Block => ({ type: 'heading', level: 3, inlines: [textOf(text)] });
