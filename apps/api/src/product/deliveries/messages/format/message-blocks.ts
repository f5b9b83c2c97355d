import type { OutputChange } from '@carillon/db';
import { describeMoment, getTexts, type Language } from '@carillon/texts';
import { describeLines, describeValue } from '../../../../lib/differences/describe-changes.ts';
import type { ChannelMessage } from '../message.ts';
import { buildMore, cutBlocks, type EndingList, type Limit } from './cut.ts';
import { buildLink } from './links.ts';
import { parseMarkdown, parsePlain } from './markdown.ts';
import { cleanLine, cleanText, cutText, takeCharacters } from './text.ts';
import { type Block, type Inline, paragraphOf, replaceTables, textOf, toPlainText } from './tree.ts';

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
export const LEVELS: Record<ChannelMessage['level'], { emoji: string; color: number }> = {
  success: { emoji: '✅', color: 0x2e7d32 },
  failure: { emoji: '❌', color: 0xc62828 },
  alert: { emoji: '🔔', color: 0xe65100 },
  recovery: { emoji: '✅', color: 0x2e7d32 },
  notice: { emoji: 'ℹ️', color: 0x1565c0 },
};

/** One line such as `✅ Prices`. */
export const describeTitle = (message: ChannelMessage) =>
  `${LEVELS[message.level].emoji} ${cleanLine(message.title) || describeLevel(message)}`;

export const describeLevel = ({ level, reader }: ChannelMessage) => getTexts(reader.language).messages.levels[level];

/** One line such as `Completed · 20 November 2026 at 10:00`. */
export const describeStatus = (message: ChannelMessage) =>
  `${describeLevel(message)} · ${describeMoment(message.at, message.reader)}`;

/**
 * All of a message but its title, level, time, link and sources: text, changes, answer, the messages of a digest. Of a text longer
 * than `maxLength` UTF-16 units the beginning with a link to the rest.
 */
export function describeMessage(message: ChannelMessage, maxLength = MAX_ANSWER_LENGTH): Block[] {
  const { text, changes, markdown, items, isCut: isAnswerCut = false } = message;
  const { language } = message.reader;
  const texts = getTexts(language).messages;
  const shownText = text === null ? null : takeCharacters(text, maxLength);
  const shownAnswer = markdown === null ? null : takeCharacters(markdown, maxLength);
  const isCut = shownText !== text || shownAnswer !== markdown;
  return [
    ...(shownText === null ? [] : parsePlain(shownText)),
    ...describeOutputChanges(changes, language),
    ...(isAnswerCut ? [paragraphOf({ type: 'emphasis', inlines: [textOf(texts.cutOff)] })] : []),
    ...(changes.length > 0 && shownAnswer !== null ? [headingOf(texts.answer)] : []),
    ...(shownAnswer === null ? [] : parseMarkdown(shownAnswer, maxLength)),
    ...items.flatMap(describeItem),
    ...(isCut ? [buildMore(message.url, language)] : []),
  ];
}

interface Room extends Pick<Limit, 'max' | 'measure'> {
  /** Default: false. Tables are shown as text then. */
  hasTables?: boolean;
}

/** What a channel shows below the title of a message. The answer is cut before its sources are. */
export function fitMessage(message: ChannelMessage, { max, measure, hasTables = false }: Room): Block[] {
  const blocks = describeMessage(message);
  const limit = { max, measure, url: message.url, end: describeSources(message), language: message.reader.language };
  return cutBlocks(hasTables ? blocks : replaceTables(blocks), limit);
}

/** The first pages that the answer cites, or null without any. Those of the messages of a digest are on their pages only. */
export function describeSources({
  citations,
  reader,
}: Pick<ChannelMessage, 'citations' | 'reader'>): EndingList | null {
  if (citations.length === 0) return null;
  const items = citations
    .slice(0, MAX_SOURCES)
    .map(({ url, title }) => [paragraphOf(buildLink(url, cutText(cleanLine(title), MAX_SOURCE_TITLE)))]);
  return { title: headingOf(getTexts(reader.language).messages.sources), items };
}

function describeItem(message: ChannelMessage, index: number): Block[] {
  const { url, reader } = message;
  const { language } = reader;
  const title: Inline = { type: 'strong', inlines: [textOf(cutText(describeTitle(message), MAX_ITEM_TITLE))] };
  const link: Inline = { type: 'link', url, text: getTexts(language).messages.openItem };
  const measure = (blocks: Block[]) => toPlainText(blocks).length;
  return [
    ...(index > 0 ? [{ type: 'rule' } as const] : []),
    paragraphOf(title, textOf(` · ${describeStatus(message)} · `), link),
    ...cutBlocks(describeMessage(message, ITEM_SOURCE_LENGTH), { max: ITEM_LENGTH, measure, url, language }),
  ];
}

/** What differs from the last success: a line for each value, the lines of a text. */
function describeOutputChanges(changes: readonly OutputChange[], language: Language): Block[] {
  if (changes.length === 0) return [];
  const texts = getTexts(language).messages;
  const isLeftOut = ({ from, to }: OutputChange) => from === undefined && to === undefined;
  const isText = (one: OutputChange) => one.path === '' && typeof one.from === 'string' && typeof one.to === 'string';
  const values = changes.filter((one) => !isText(one) && !isLeftOut(one));
  const hasMore = values.length > MAX_CHANGES || changes.some(isLeftOut);
  const items: Block[][] = values
    .slice(0, MAX_CHANGES)
    .map(({ path, from, to }) => [
      paragraphOf(
        textOf(`${cleanLine(path) || texts.wholeAnswer}: `),
        { type: 'code', text: cleanLine(describeValue(from, language)) },
        textOf(' → '),
        { type: 'code', text: cleanLine(describeValue(to, language)) },
      ),
    ]);
  if (hasMore) items.push([paragraphOf(textOf(texts.moreChanges))]);
  const lines: Block[] = changes.filter(isText).map(({ from, to }) => {
    const text = cleanText(describeLines(from as string, to as string));
    return { type: 'code', language: 'diff', text };
  });
  const list: Block[] = items.length > 0 ? [{ type: 'list', start: null, items }] : [];
  return [headingOf(texts.changes), ...list, ...lines];
}

export const headingOf = (text: string): Block => ({ type: 'heading', level: 3, inlines: [textOf(text)] });
