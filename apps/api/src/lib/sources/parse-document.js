import { isUtf8 } from 'node:buffer';
import { labelToName, legacyHookDecode } from '@exodus/bytes/encoding.js';
import sniffHtmlEncoding from 'html-encoding-sniffer';
import { parseFeed } from './parse-feed.js';
import { parseHtml } from './parse-html.js';

// Runs in a thread. See `parser.ts` for the types.

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json$/;
const XML = /^(?:(?:application|text)\/xml|application\/[\w.-]+\+xml)$/;
const TEXT =
  /^(?:text\/|application\/(?:(?:x-)?(?:javascript|ecmascript|yaml|ndjson|toml|sql|jsonlines)|[\w.-]+\+yaml|jsonl)$)/;
const FEED =
  /^\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<!DOCTYPE[^>[]*(?:\[[^\]]*\])?\s*>\s*)*<(?:rss|feed|rdf:RDF)[\s>]/i;
const FEED_HEAD = 4096;
/** The bytes by which browsers know that data is no text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const BINARY = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/;
const BINARY_HEAD = 1445;
const HITS = 10;

/** Returns what a reader of the document gets, or why nobody can read it. */
export function parseDocument({ bytes, contentType, charset, select, url, isSearch }) {
  try {
    const text = decode(bytes, contentType, charset);
    if (BINARY.test(text.slice(0, BINARY_HEAD))) return { problem: 'no_text' };
    if (isSearch) return parseHits(text);
    const kind = findKind(contentType, text);
    if (kind === null) return { problem: 'no_text' };
    if (select?.startsWith('/')) return kind === 'json' ? point(text, select) : { problem: 'no_json' };
    if (kind === 'feed') return select === undefined ? parseFeed(text, url) : { problem: 'no_html' };
    if (kind === 'html') return parseHtml(text, select);
    return select === undefined ? { title: null, text: text.trim() } : { problem: 'no_html' };
  } catch {
    return { problem: 'malformed' };
  }
}

function findKind(contentType, text) {
  const isFeed = FEED.test(text.slice(0, FEED_HEAD));
  if (isFeed && (contentType === '' || contentType.startsWith('text/') || XML.test(contentType))) return 'feed';
  if (HTML.test(contentType)) return 'html';
  if (JSON_TYPE.test(contentType)) return 'json';
  if (XML.test(contentType) || TEXT.test(contentType)) return 'text';
  if (contentType !== '') return null;
  if (/^\s*</.test(text)) return 'html';
  return /^\s*[[{]/.test(text) ? 'json' : 'text';
}

function decode(bytes, contentType, charset) {
  const fallback = isUtf8(bytes) ? 'UTF-8' : 'windows-1252';
  const xml = XML.test(contentType) && !HTML.test(contentType);
  const label = charset ?? (xml ? readXmlEncoding(bytes) : undefined);
  if (xml || HTML.test(contentType)) {
    const options = { xml, transportLayerEncodingLabel: label, defaultEncoding: fallback };
    return legacyHookDecode(bytes, sniffHtmlEncoding(bytes, options));
  }
  return legacyHookDecode(bytes, (label && labelToName(label)) || fallback);
}

const readXmlEncoding = (bytes) =>
  /^<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(Buffer.from(bytes.subarray(0, 256)).toString('latin1'))?.[1];

function point(text, pointer) {
  let value = JSON.parse(text);
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    const isIndex = !Array.isArray(value) || /^(?:0|[1-9]\d*)$/.test(key);
    if (typeof value !== 'object' || value === null || !isIndex || !Object.hasOwn(value, key)) {
      return { problem: 'not_found' };
    }
    value = value[key];
  }
  return { title: null, text: typeof value === 'string' ? value : JSON.stringify(value) };
}

function parseHits(text) {
  const { results, unresponsive_engines: silent } = JSON.parse(text);
  if (results.length === 0 && silent?.length > 0) return { problem: 'no_engine' };
  const hits = results
    .slice(0, HITS)
    .map(({ title, url, content, publishedDate }) =>
      [title, url, publishedDate, content].filter((line) => typeof line === 'string' && line.trim() !== '').join('\n'),
    );
  return { title: null, text: hits.join('\n\n') || 'No results.' };
}
