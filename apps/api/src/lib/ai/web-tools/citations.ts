import { toOneLine, toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { Citation } from '../request.ts';

const MAX_CITATIONS = 50;
const MAX_PAGES = 100;
const MAX_URL = 2048;
const MAX_TITLE = 300;
/** White space counts in a title only after it is folded. */
const MAX_READ_TITLE = 4 * MAX_TITLE;
/** Text direction marks and other invisible characters, with which a title can look like another. */
const INVISIBLE = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g;

/** Web addresses, each once, in order. */
class CitationList {
  readonly #byUrl = new Map<string, Citation>();

  add(url: unknown, title: unknown): void {
    if (this.#byUrl.size >= MAX_CITATIONS) return;
    const page = readUrl(url);
    if (page === null || this.#byUrl.has(page.href)) return;
    this.#byUrl.set(page.href, { url: page.href, title: readTitle(title) || page.hostname });
  }

  addAll(citations: Iterable<Citation>): this {
    for (const citation of citations) {
      if (this.#byUrl.size < MAX_CITATIONS && !this.#byUrl.has(citation.url)) this.#byUrl.set(citation.url, citation);
    }
    return this;
  }

  [Symbol.iterator]() {
    return this.#byUrl.values();
  }
}

/** The pages that an answer cites, as a stranger names them. */
export class Sources {
  #cited = new CitationList();
  readonly #citedBefore = new CitationList();
  readonly #pages: { url: unknown; title: unknown }[] = [];
  readonly #documents: number;

  /** `documents`: the number of attached PDFs, which a provider numbers with the pages that it fetches. */
  constructor(documents: number) {
    this.#documents = documents;
  }

  cite(url: unknown, title: unknown): void {
    this.#cited.add(url, title);
  }

  addPage(url: unknown, title: unknown): void {
    if (this.#pages.length < MAX_PAGES) this.#pages.push({ url, title });
  }

  /** Cites a page that was added. If several have the title, its number decides. */
  citePage(number: unknown, title: unknown): void {
    const alike = this.#pages.filter((page) => (page.title ?? null) === (title ?? null));
    const page = alike.length === 1 ? alike[0] : this.#pages[Number(number) - this.#documents];
    if (page && alike.includes(page)) this.cite(page.url, page.title);
  }

  /** What was cited so far does not belong to the answer itself. */
  startSection(): void {
    this.#citedBefore.addAll(this.#cited);
    this.#cited = new CitationList();
  }

  /** Those of the answer first. */
  toArray(): Citation[] {
    return [...new CitationList().addAll(this.#cited).addAll(this.#citedBefore)];
  }
}

/** Null for what is not a plain web address: a name or a password in it is there to deceive. */
function readUrl(given: unknown): URL | null {
  if (typeof given !== 'string' || given.length > MAX_URL || /[\p{Cc}\s]/u.test(given)) return null;
  const url = URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return null;
  return url.href.length <= MAX_URL ? url : null;
}

function readTitle(given: unknown): string {
  if (typeof given !== 'string') return '';
  const line = toOneLine(given.slice(0, MAX_READ_TITLE).replace(INVISIBLE, ''));
  return toStorableText(line, MAX_TITLE).trim();
}
