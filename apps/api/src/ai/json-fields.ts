import { toStorableText } from '@carillon/db/storable-text';

const MAX_TEXT = 500;

/** The fields of parsed JSON; none where it is no object. */
export const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** A text that says something, of at most 500 characters; null for anything else. */
export const textIn = (value: unknown): string | null =>
  (typeof value === 'string' && toStorableText(value, MAX_TEXT).trim()) || null;
