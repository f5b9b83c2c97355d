import { describeMoment, getTexts } from '@carillon/texts';
import { buildMore, cutBlocks } from '../format/cut.ts';
import { parseMarkdown } from '../format/markdown.ts';
import { describeSources } from '../format/message-blocks.ts';
import { cleanLine, cleanText, cutText, takeCharacters } from '../format/text.ts';
import type { Block } from '../format/tree.ts';
import type { ChannelMessage } from '../message.ts';
import { prepareChanges, type ShownChanges } from './changes.ts';
import { renderBlocks } from './html-blocks.ts';

const MAX_TITLE_LENGTH = 150;
const MAX_LISTED = 100;
const MAX_SHOWN = 20;
/** Of an error or an explanation. */
const MAX_TEXT_LENGTH = 4000;
/** Of the answers of a mail together. Reading hostile formatting takes time that grows with the square of the length. */
const MAX_MARKDOWN_LENGTH = 16_000;
/** Of the answers of a mail together, as HTML. Mail programs hide what follows 100 KB. */
const MAX_HTML_LENGTH = 45_000;

/** Why the reader gets the mail, and how to end that. */
export interface Footer {
  /** The address of the account. */
  account: string;
  /** The name that its owner gave the channel. */
  channel: string;
  unsubscribeUrl: string;
}

/** A message as both parts of a mail show it. */
export interface ShownMessage {
  message: ChannelMessage;
  title: string;
  text: string | null;
  changes: ShownChanges | null;
  answer: readonly Block[];
  /** The pages that the answer cites, as items of a list. A digest has none. */
  sources: readonly Block[][];
}

export interface MailParts {
  main: ShownMessage;
  /** The messages of a digest that the mail names. */
  listed: readonly ChannelMessage[];
  /** The messages of a digest that it shows. */
  items: readonly ShownMessage[];
  footer: Footer;
}

/** Cuts what a mail shows. */
export function composeMail(message: ChannelMessage, footer: Footer): MailParts {
  const items = message.items.slice(0, MAX_SHOWN);
  const share = Math.max(1, items.length);
  return {
    main: { ...showMessage(message, share), sources: describeSources(message)?.items ?? [] },
    listed: message.items.slice(0, MAX_LISTED),
    items: items.map((item) => showMessage(item, share)),
    footer,
  };
}

/** `share`: by how many messages the mail is divided. */
function showMessage(message: ChannelMessage, share: number): ShownMessage {
  const { text, changes, markdown, reader } = message;
  return {
    message,
    title: toTitle(message),
    text: text && cutText(cleanText(text.slice(0, 10 * MAX_TEXT_LENGTH)), Math.ceil(MAX_TEXT_LENGTH / share)),
    changes: changes.length > 0 ? prepareChanges(changes, reader.language, share) : null,
    answer: markdown ? showAnswer(markdown, message, share) : [],
    sources: [],
  };
}

function showAnswer(markdown: string, { url, reader }: ChannelMessage, share: number): Block[] {
  const beginning = takeBeginning(markdown, Math.ceil(MAX_MARKDOWN_LENGTH / share));
  const measure = (blocks: Block[]) => String(renderBlocks(blocks, 1)).length;
  const parsed = parseMarkdown(beginning);
  const blocks = cutBlocks(parsed, {
    max: Math.ceil(MAX_HTML_LENGTH / share),
    measure,
    url,
    language: reader.language,
  });
  if (blocks !== parsed || beginning === markdown) return blocks;
  return [...blocks, buildMore(url, reader.language)];
}

/** Up to the end of a line or a word, if there is one. */
function takeBeginning(text: string, length: number): string {
  if (text.length <= length) return text;
  const part = takeCharacters(text, length);
  const end = [part.lastIndexOf('\n'), part.lastIndexOf(' ')].find((at) => at > 0.8 * part.length);
  return part.slice(0, end);
}

/** A title or subject: one line of bounded length. */
export const toTitle = ({ title, reader }: ChannelMessage): string =>
  cutTitle(title) || getTexts(reader.language).messages.untitled;

const cutTitle = (title: string) => cutText(cleanLine(title.slice(0, 2000)), MAX_TITLE_LENGTH);

/** The subject of a mail. That of a digest names what came. */
export function toSubject(message: ChannelMessage): string {
  const { title, items } = message;
  if (items.length === 0) return toTitle(message);
  return cutTitle(`${title}: ${items.slice(0, 10).map(toTitle).join(', ')}`);
}

export const formatTime = ({ at, reader }: ChannelMessage): string => describeMoment(at, reader);
