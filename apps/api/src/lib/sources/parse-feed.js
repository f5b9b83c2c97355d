import { createHash } from 'node:crypto';
import { parseFeed as parseXml } from 'feedsmith';
import { htmlToText } from './parse-html.js';

// Runs in a thread.

const MAX_ENTRIES = 20;
const MAX_TEXT = 2000;

/** Returns the newest entries of a feed in Atom or RSS. */
export function parseFeed(xml, url) {
  const { feed } = parseXml(xml);
  const entries = newestFirst((feed.entries ?? feed.items ?? []).map(toEntry)).slice(0, MAX_ENTRIES);
  const texts = entries.map((entry) => finish(entry, url));
  return {
    title: textOf(feed.title) || null,
    text: texts.map(({ title, date, link, text }) => [title, date, link, text].filter(Boolean).join('\n')).join('\n\n'),
    entries: texts,
  };
}

const toEntry = (entry) => {
  const date = Date.parse(entry.updated ?? entry.published ?? entry.pubDate ?? entry.dc?.dates?.[0] ?? entry.dc?.date);
  return { entry, date: Number.isNaN(date) ? null : date };
};

/** Keeps the order of the feed unless each entry has a date. */
const newestFirst = (entries) =>
  entries.every(({ date }) => date !== null) ? entries.toSorted((a, b) => b.date - a.date) : entries;

function finish({ entry, date }, url) {
  const title = textOf(entry.title);
  const links = entry.links ?? [];
  const href = entry.link ?? (links.find(({ rel }) => rel === undefined || rel === 'alternate') ?? links[0])?.href;
  const body = entry.content?.encoded ?? entry.content ?? entry.description ?? entry.summary;
  const text = textOf(body);
  const link = toLink(href ?? (entry.guid?.isPermaLink === false ? undefined : entry.guid?.value), url);
  return {
    id: entry.id || entry.guid?.value || link || createHash('sha256').update(`${title}\n${text}`).digest('hex'),
    title,
    link,
    date: date === null ? null : new Date(date).toISOString(),
    text: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text,
  };
}

function toLink(href, base) {
  const url = href && URL.parse(href, base);
  return url && /^https?:$/.test(url.protocol) ? url.href : null;
}

function textOf(value) {
  const html = typeof value === 'string' ? value : (value?.value ?? '');
  return typeof html === 'string' ? htmlToText(html) : '';
}
