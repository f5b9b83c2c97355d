/** The value as JSON has it: instants are texts. */
export type Plain<T> = T extends Date
  ? string
  : T extends readonly (infer E)[]
    ? Plain<E>[]
    : T extends object
      ? { [K in keyof T]: Plain<T[K]> }
      : T;

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
