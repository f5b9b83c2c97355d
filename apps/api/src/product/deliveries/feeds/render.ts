import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Context } from '../../../context.ts';
import { VERSION } from '../../../lib/config/config.ts';
import { cutBlocks } from '../messages/format/cut.ts';
import { describeMessage, describeSources, headingOf } from '../messages/format/message-blocks.ts';
import { cleanLine, cleanText, cutText, takeCharacters } from '../messages/format/text.ts';
import { type Block, paragraphOf, textOf } from '../messages/format/tree.ts';
import { escapeXml, toHtml } from './html.ts';
import { type Feed, type FeedResult, type FeedRun, MAX_RESULT_LENGTH } from './read.ts';

/** Of an entry. */
const MAX_HTML_LENGTH = 100_000;

type FeedContext = Pick<Context, 'config'>;

/** Results do not change once they are stored, so everything that a feed shows follows from this. */
export function buildFeedTag({ config }: FeedContext, { id, taskName, runs }: Feed): string {
  const shown = JSON.stringify([VERSION, config.appUrl, id, taskName, runs]);
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
  const { userId, taskId, taskName, createdAt, runs } = feed;
  const page = taskId === null ? `${appUrl}/executions` : `${appUrl}/tasks/${taskId}`;
  const ended = runs.map(({ completedAt }) => completedAt.getTime());
  const updated = ended.length > 0 ? new Date(Math.max(...ended)) : createdAt;
  const parts = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    textElement('id', taskId === null ? `${page}#account-${userId}` : page),
    textElement('title', taskName === null ? 'Carillon: all results' : `Carillon: ${toTitle(taskName)}`),
    textElement('updated', updated.toISOString()),
    `<author>${textElement('name', 'Carillon')}</author>`,
    linkElement(page),
  ];
  for (const run of runs) {
    const result = results.get(run.id);
    if (!result) continue;
    parts.push(renderEntry(`${appUrl}/executions/${run.id}`, run, result));
    await setImmediate();
  }
  return [...parts, '</feed>', ''].join('\n');
}

function renderEntry(url: string, { taskName, completedAt }: FeedRun, result: FeedResult): string {
  const isChanged = result.changes.length > 0;
  return [
    '<entry>',
    textElement('id', url),
    textElement('title', `${toTitle(taskName)}${isChanged ? ': the answer changed' : ''}`),
    textElement('updated', completedAt.toISOString()),
    linkElement(url),
    `<content type="html">${escapeXml(toHtml(listBlocks(url, completedAt, result)))}</content>`,
    '</entry>',
  ].join('\n');
}

function listBlocks(url: string, at: Date, { text, isJson, isCut, changes, citations }: FeedResult): Block[] {
  const begin = takeCharacters(text, MAX_RESULT_LENGTH);
  const markdown = isJson ? null : begin;
  const run = { level: 'success', title: '', text: null, url, at, items: [] } as const;
  const blocks = describeMessage({ ...run, markdown, isCut, changes, citations });
  if (isJson && changes.length > 0) blocks.push(headingOf('The answer'));
  if (isJson) blocks.push({ type: 'code', language: 'json', text: cleanText(begin) });
  if (begin.length < text.length)
    blocks.push(paragraphOf(textOf('… ('), { type: 'link', url, text: MORE }, textOf(')')));
  return cutBlocks(blocks, {
    max: MAX_HTML_LENGTH,
    measure: (cut) => toHtml(cut).length,
    url,
    end: describeSources({ citations }),
  });
}

const MORE = 'continues in Carillon';
const MAX_TITLE_LENGTH = 200;

const toTitle = (name: string) => cutText(cleanLine(name), MAX_TITLE_LENGTH) || 'A task';

const textElement = (name: string, text: string) => `<${name}>${escapeXml(text)}</${name}>`;

const linkElement = (url: string) => `<link rel="alternate" type="text/html" href="${escapeXml(url)}"/>`;
