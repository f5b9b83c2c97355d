import type { Plain } from '@carillon/contract/actions/web/define';

/** Copies a value of a service with its instants as texts, ISO 8601 in UTC with milliseconds. */
export function toPlain<T>(value: T): Plain<T> {
  return convert(value) as Plain<T>;
}

function convert(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(convert);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, convert(part)]));
}
