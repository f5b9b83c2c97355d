import { toStorableText } from '@carillon/contract/validation/unsafe-values';

const MAX_TEXT = 500;

export type JsonObject = Record<string, unknown>;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const toObject = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

export const toArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const toText = (value: unknown): string | null =>
  (typeof value === 'string' && toStorableText(value, MAX_TEXT).trim()) || null;
