import { MAX_ID } from '@carillon/contract/primitives';
import { isUuid } from '@carillon/contract/validation/formats';
import { invalidField } from '../../errors.ts';

export interface PageQuery {
  limit: number;
  offset: number;
  /** `nextCursor` of the previous page; `offset` is then ignored. */
  cursor?: string;
}

interface Slice {
  /** Only rows with a smaller id; null for the start of the list. */
  before: number | null;
  limit: number;
  offset: number;
}

/** A page by cursor costs the same at any depth and has no `total`. */
export async function readCursorPage<R extends { id: number }>(
  query: PageQuery,
  find: (slice: Slice) => PromiseLike<R[]>,
  count: () => PromiseLike<number>,
) {
  const { limit } = query;
  const before = decodeIdCursor(query.cursor);
  const offset = before === null ? query.offset : 0;
  const [rows, total] = await Promise.all([
    find({ before, limit: limit + 1, offset }),
    before === null ? count() : null,
  ]);
  const { page, hasMore, nextCursor } = splitPage(rows, limit, (row) => row.id);
  return { page, pagination: { total, limit, offset, hasMore, nextCursor } };
}

export async function readOffsetPage<R>(
  { limit, offset }: Omit<PageQuery, 'cursor'>,
  find: (slice: { limit: number; offset: number }) => PromiseLike<R[]>,
  count: () => PromiseLike<number>,
) {
  const [page, total] = await Promise.all([find({ limit, offset }), count()]);
  return { page, pagination: { total, limit, offset } };
}

/** `rows` are read with a limit of one more than the page. */
export function splitPage<R>(rows: readonly R[], limit: number, toKey: (row: R) => string | number) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return { page, hasMore, nextCursor: hasMore && last !== undefined ? encodeCursor(toKey(last)) : null };
}

export const encodeCursor = (key: string | number): string => Buffer.from(String(key)).toString('base64url');

/** Throws 400 for a cursor that this service has not issued. */
export function decodeIdCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const id = readIdCursor(cursor);
  if (id === null) throw unknownCursor();
  return id;
}

/** Returns null for a cursor that this service has not issued. */
function readIdCursor(cursor: string): number | null {
  const id = Number(Buffer.from(cursor, 'base64url').toString());
  return Number.isInteger(id) && id >= 1 && id <= MAX_ID && encodeCursor(id) === cursor ? id : null;
}

export function decodeInstantCursor(cursor: string | undefined): Date | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  if (encodeCursor(text) !== cursor) throw unknownCursor();
  return parseCursorInstant(text);
}

const INSTANT_LENGTH = '2026-11-20T10:00:00.000Z'.length;

/** Throws 400. */
export function parseCursorInstant(text: string): Date {
  const at = new Date(text);
  // PostgreSQL reads neither the year 0 nor years of more than four digits.
  const isKnown = at.getTime() >= 0 && text.length === INSTANT_LENGTH && at.toISOString() === text;
  if (!isKnown) throw unknownCursor();
  return at;
}

interface Created {
  createdAt: Date;
  /** A UUID. */
  id: string;
}

/** The key of a list by time of creation: several rows can be created in one millisecond, so it has the id too. */
export const toCreationKey = ({ createdAt, id }: Created): string => `${createdAt.toISOString()} ${id}`;

/** Throws 400 for a cursor that this service has not issued. */
export function decodeCreationCursor(cursor: string | undefined): Created | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  const [instant = '', id = ''] = text.split(' ');
  if (!isUuid(id) || encodeCursor(text) !== cursor || text !== `${instant} ${id}`) throw unknownCursor();
  return { createdAt: parseCursorInstant(instant), id };
}

export const unknownCursor = () => invalidField('cursor', 'is not a cursor of this list');

/** Escapes the wildcards of the text itself. */
export const containsPattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
