import { MAX_ID } from '@carillon/contract/primitives';
import { invalidField } from '../errors.ts';

const INSTANT_LENGTH = '2026-11-20T10:00:00.000Z'.length;

/** The place in a list where the next page begins: after this key, newest first. */
export const encodeCursor = (key: string | number): string => Buffer.from(String(key)).toString('base64url');

/** The id that a cursor was made of; a cursor that this service never gave out is refused as `cursor`. */
export function decodeIdCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const id = Number(Buffer.from(cursor, 'base64url').toString());
  if (!Number.isInteger(id) || id < 1 || id > MAX_ID || encodeCursor(id) !== cursor) throw unknownCursor();
  return id;
}

/** As `decodeIdCursor`, for lists in the order of an instant. */
export function decodeInstantCursor(cursor: string | undefined): Date | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  const at = new Date(text);
  // Years beyond four digits have a sign and are longer; PostgreSQL reads neither them nor the year 0.
  const known = at.getTime() >= 0 && text.length === INSTANT_LENGTH && at.toISOString() === text;
  if (!known || encodeCursor(text) !== cursor) throw unknownCursor();
  return at;
}

const unknownCursor = () => invalidField('cursor', 'is not a cursor of this list');

/** Splits the one row more than a page off again: whether there is more, and where it begins. */
export function splitPage<R>(rows: R[], limit: number, keyOf: (row: R) => string | number) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return { page, hasMore, nextCursor: hasMore && last !== undefined ? encodeCursor(keyOf(last)) : null };
}

/** `%text%` for ILIKE, in which the text's own wildcards stand for themselves. */
export const containsPattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
