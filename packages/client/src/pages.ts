import { InvalidResponseError } from './errors.ts';
import type { Query } from './request.ts';
import type { ResponsePromise } from './response-promise.ts';

interface Pagination {
  nextCursor?: string | null;
  nextAfter?: string | null;
  hasMore?: boolean;
  total?: number | null;
  offset?: number;
}

/** The key of a page that has its entries. */
export type ListKey<Page> = { [Key in keyof Page]: Page[Key] extends readonly unknown[] ? Key : never }[keyof Page];
export type EntryOf<List> = List extends readonly (infer Entry)[] ? Entry : never;

/** A list in pages. `for await` gets all entries, page after page; `page()` gets the first page only. */
export class Pages<Page extends { pagination: object }, Key extends ListKey<Page>>
  implements AsyncIterable<EntryOf<Page[Key]>>
{
  readonly #load: (query: Query) => ResponsePromise<Page>;
  readonly #key: Key;

  constructor(load: (query: Query) => ResponsePromise<Page>, key: Key) {
    this.#load = load;
    this.#key = key;
  }

  page(): ResponsePromise<Page> {
    return this.#load({});
  }

  async *pages(): AsyncGenerator<Page, void, undefined> {
    for (let next: object | null = {}, before = ''; next; ) {
      const page: Page = await this.#load(next);
      yield page;
      next = findNext(page.pagination, (page[this.#key] as unknown[]).length);
      const place = JSON.stringify(next);
      if (place === before) throw new InvalidResponseError('A page names itself as the next one.');
      before = place;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<EntryOf<Page[Key]>, void, undefined> {
    for await (const page of this.pages()) yield* page[this.#key] as EntryOf<Page[Key]>[];
  }
}

/** The query of the next page; null after the last one. */
function findNext({ nextCursor, nextAfter, hasMore, total, offset = 0 }: Pagination, count: number): object | null {
  if (nextCursor !== undefined) return nextCursor === null ? null : { cursor: nextCursor };
  // A page of filtered events may be empty although there are more.
  if (typeof nextAfter === 'string') return hasMore ? { after: nextAfter } : null;
  if (count === 0) return null;
  const next = offset + count;
  return (hasMore ?? (typeof total === 'number' && next < total)) ? { offset: next } : null;
}
