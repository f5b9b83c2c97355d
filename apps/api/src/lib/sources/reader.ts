import { MIMEType } from 'node:util';
import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { Config } from '../config/config.ts';
import { createOperatorClient } from '../egress/operator-client.ts';
import type { EgressSettings } from '../egress/policy.ts';
import {
  createPageClient,
  type FetchedPage,
  type HeaderSecret,
  MAX_BYTES,
  type PageClientOptions,
  TOO_LARGE,
} from './fetch.ts';
import { createMask } from './mask-secret.ts';
import { createParser, type ParseProblem, type SourceEntry } from './parser.ts';
import { unpack } from './unpack.ts';

export type SourceInput =
  | { url: string; select?: string | undefined; header?: HeaderSecret | undefined }
  | { search: string };

/** What the source sent with its last answer. */
export interface SourceValidators {
  etag: string | null;
  lastModified: string | null;
}

export interface SourceText extends SourceValidators {
  status: 'ok';
  httpStatus: number;
  /** Without parameters; empty if unknown. */
  contentType: string;
  title: string | null;
  text: string;
  /** Unpacked. */
  bytes: number;
  /** Of a feed: the newest 20, the newest first. */
  entries?: SourceEntry[];
}

export type SourceResult =
  | SourceText
  | { status: 'not_modified'; httpStatus: number }
  | { status: 'failed'; httpStatus: number | null; message: string };

export interface SourceReader {
  /** Reads a source, whose answer to `earlier` may be that it has not changed. Never rejects. */
  read(source: SourceInput, earlier?: SourceValidators): Promise<SourceResult>;
  close(): Promise<void>;
}

type ReaderSettings = EgressSettings & Pick<Config, 'sourcesAllow' | 'searchUrl'>;

const SEARCH_MS = 10_000;
const MAX_TITLE = 300;
/** Longer ones would not fit into a request. */
const MAX_VALIDATOR = 1000;

/** Reads the sources of tasks: pages and feeds that users name, and the operator's search engine. */
export function createSourceReader(settings: ReaderSettings, options: PageClientOptions = {}): SourceReader {
  const pages = createPageClient(settings, options);
  const operator = createOperatorClient({ connectMs: SEARCH_MS });
  const parser = createParser();

  const readPage = async (
    { url, select, header }: Extract<SourceInput, { url: string }>,
    earlier: SourceValidators | undefined,
  ): Promise<SourceResult> => {
    const page = await pages.get({ url, secret: header, headers: toHeaders(select, earlier) });
    if (page.failed) return fail(page.httpStatus, page.message);
    const { httpStatus, headers } = page;
    if (httpStatus === 304) {
      return earlier?.etag || earlier?.lastModified
        ? { status: 'not_modified', httpStatus }
        : fail(httpStatus, 'The source answered 304.');
    }
    const body = await unpackBody(page);
    if (!Buffer.isBuffer(body)) return fail(httpStatus, body.message);
    const { contentType, charset } = readType(headers['content-type']);
    const parsed = await parser.parse({ bytes: body, contentType, charset, select, url: page.url });
    if (parsed.problem !== undefined) return fail(httpStatus, PROBLEMS[parsed.problem]);
    const clean = toCleaner(header);
    return {
      status: 'ok',
      httpStatus,
      contentType: clean(contentType),
      title: parsed.title && toStorableText(clean(parsed.title), MAX_TITLE),
      text: clean(parsed.text),
      bytes: body.length,
      etag: toValidator(headers.etag, clean),
      lastModified: toValidator(headers['last-modified'], clean),
      ...(parsed.entries && { entries: parsed.entries.map((entry) => cleanEntry(entry, clean)) }),
    };
  };

  const search = async (query: string): Promise<SourceResult> => {
    if (settings.searchUrl === null) return fail(null, 'No search engine is set.');
    const address = new URL(`${settings.searchUrl}/search?${new URLSearchParams({ q: query, format: 'json' })}`);
    const chunks: Buffer[] = [];
    const { end, status } = await operator.request({
      origin: address.origin,
      path: address.pathname + address.search,
      method: 'GET',
      headers: { accept: 'application/json' },
      timeoutMs: SEARCH_MS,
      maxBytes: MAX_BYTES,
      onData(chunk) {
        chunks.push(chunk);
        return false;
      },
    });
    if (status !== null && status !== 200) return fail(status, `The search engine answered ${status}.`);
    if (end === 'too_large') return fail(status, TOO_LARGE);
    if (end !== 'complete') return fail(status, 'The search engine did not answer.');
    const bytes = Buffer.concat(chunks);
    const contentType = 'application/json';
    const parsed = await parser.parse({ bytes, contentType, url: address.origin, isSearch: true });
    if (parsed.problem !== undefined) return fail(status, PROBLEMS[parsed.problem]);
    const text = toStorableText(parsed.text, Number.POSITIVE_INFINITY);
    return {
      status: 'ok',
      httpStatus: 200,
      contentType,
      title: null,
      text,
      bytes: bytes.length,
      etag: null,
      lastModified: null,
    };
  };

  return {
    read: (source, earlier) => ('search' in source ? search(source.search) : readPage(source, earlier)),
    async close() {
      await Promise.all([pages.close(), operator.close(), parser.close()]);
    },
  };
}

const fail = (httpStatus: number | null, message: string): SourceResult => ({ status: 'failed', httpStatus, message });

const PROBLEMS: Record<ParseProblem, string> = {
  no_text: 'The source is not a text.',
  no_json: 'The source is not JSON, which its JSON Pointer needs.',
  no_html: 'The source is not HTML, which its CSS selector needs.',
  not_found: 'The source has nothing at its selection.',
  no_engine: 'The search engine got no answer from the engines that it asks.',
  malformed: 'The source is malformed.',
  too_complex: 'The source takes too long to read.',
};

function toHeaders(select: string | undefined, earlier: SourceValidators | undefined): Record<string, string> {
  return {
    accept: select?.startsWith('/')
      ? 'application/json, */*;q=0.5'
      : 'text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8',
    ...(earlier?.etag && { 'if-none-match': earlier.etag }),
    ...(earlier?.lastModified && { 'if-modified-since': earlier.lastModified }),
  };
}

async function unpackBody({ headers, body }: Extract<FetchedPage, { failed: false }>) {
  try {
    return await unpack(body, headers['content-encoding']);
  } catch (error) {
    const isLarge = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { message: isLarge ? TOO_LARGE : 'The compression of the source is unknown or broken.' };
  }
}

function readType(header = '') {
  try {
    const { essence, params } = new MIMEType(header);
    return { contentType: essence, charset: params.get('charset') ?? undefined };
  } catch {
    return { contentType: '', charset: undefined };
  }
}

function toCleaner(header: HeaderSecret | undefined): (text: string) => string {
  const mask = header ? createMask(header.value) : (text: string) => text;
  return (text) => toStorableText(mask(text), Number.POSITIVE_INFINITY);
}

/** Null for one that is not sent back: it is too long, or repeats the secret, which its mask would break. */
function toValidator(header: string | string[] | undefined, clean: (text: string) => string): string | null {
  return typeof header === 'string' && header.length <= MAX_VALIDATOR && clean(header) === header ? header : null;
}

const cleanEntry = ({ id, title, link, date, text }: SourceEntry, clean: (text: string) => string): SourceEntry => ({
  id: clean(id),
  title: clean(title),
  link: link && clean(link),
  date,
  text: clean(text),
});
