import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { getTexts, type Language } from '@carillon/texts';
import type { Context } from '../../../context.ts';
import { VERSION } from '../../../lib/config/config.ts';
import { buildMore, cutBlocks } from '../messages/format/cut.ts';
import { describeMessage, describeSources, headingOf } from '../messages/format/message-blocks.ts';
import { cleanLine, cleanText, cutText, takeCharacters } from '../messages/format/text.ts';
import type { Block } from '../messages/format/tree.ts';
import { escapeXml, toHtml } from './html.ts';
import { type Feed, type FeedResult, type FeedRun, MAX_RESULT_LENGTH } from './read.ts';

/** Of an entry. */
const MAX_HTML_LENGTH = 100_000;

type FeedContext = Pick<Context, 'config'>;

/** Results do not change once they are stored, so everything that a feed shows follows from this. */
export function buildFeedTag({ config }: FeedContext, { id, language, taskName, runs }: Feed): string {
  const shown = JSON.stringify([VERSION, config.appUrl, id, language, taskName, runs]);
  return `"${hash('sha256', shown, 'base64url').slice(0, 22)}"`;
}

/**
 * Writes the feed as Atom. It does not name its own address, so that a stored copy does not give it away. Other requests are
 * served between two entries.
 */
export async function renderFeed(
  { config: { appUrl } }: FeedContext,
  feed: Feed,
  results: ReadonlyMap<number, FeedResult>,
): Promise<string> {
  const { userId, language, taskId, taskName, createdAt, runs } = feed;
  const { messages: texts } = getTexts(language);
  const page = taskId === null ? `${appUrl}/executions` : `${appUrl}/tasks/${taskId}`;
  const ended = runs.map(({ completedAt }) => completedAt.getTime());
  const updated = ended.length > 0 ? new Date(Math.max(...ended)) : createdAt;
  const parts = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    textElement('id', taskId === null ? `${page}#account-${userId}` : page),
    textElement('title', `Carillon: ${taskName === null ? texts.allAnswers : toTitle(taskName, language)}`),
    textElement('updated', updated.toISOString()),
    `<author>${textElement('name', 'Carillon')}</author>`,
    linkElement(page),
  ];
  for (const run of runs) {
    const result = results.get(run.id);
    if (!result) continue;
    parts.push(renderEntry(`${appUrl}/executions/${run.id}`, run, result, language));
    await setImmediate();
  }
  return [...parts, '</feed>', ''].join('\n');
}

function renderEntry(url: string, { taskName, completedAt }: FeedRun, result: FeedResult, language: Language): string {
  const title = toTitle(taskName, language);
  return [
    '<entry>',
    textElement('id', url),
    textElement('title', result.changes.length > 0 ? getTexts(language).messages.changed(title) : title),
    textElement('updated', completedAt.toISOString()),
    linkElement(url),
    `<content type="html">${escapeXml(toHtml(listBlocks(url, completedAt, result, language)))}</content>`,
    '</entry>',
  ].join('\n');
}

function listBlocks(
  url: string,
  at: Date,
  { text, isJson, isCut, changes, citations }: FeedResult,
  language: Language,
): Block[] {
  const reader = { language, timezone: null };
  const begin = takeCharacters(text, MAX_RESULT_LENGTH);
  const markdown = isJson ? null : begin;
  const run = { reader, level: 'success', title: '', text: null, url, at, items: [] } as const;
  const blocks = describeMessage({ ...run, markdown, isCut, changes, citations });
  if (isJson && changes.length > 0) blocks.push(headingOf(getTexts(language).messages.answer));
  if (isJson) blocks.push({ type: 'code', language: 'json', text: cleanText(begin) });
  if (begin.length < text.length) blocks.push(buildMore(url, language));
  return cutBlocks(blocks, {
    max: MAX_HTML_LENGTH,
    measure: (cut) => toHtml(cut).length,
    url,
    language,
    end: describeSources({ citations, reader }),
  });
}

const MAX_TITLE_LENGTH = 200;

const toTitle = (name: string, language: Language) =>
  cutText(cleanLine(name), MAX_TITLE_LENGTH) || getTexts(language).messages.untitledTask;

const textElement = (name: string, text: string) => `<${name}>${escapeXml(text)}</${name}>`;

const linkElement = (url: string) => `<link rel="alternate" type="text/html" href="${escapeXml(url)}"/>`;
