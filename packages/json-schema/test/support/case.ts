/** A schema with values that match it and values that do not, by the standard (2020-12). */
export type Case = [schema: unknown, valid: unknown[], invalid: unknown[]];

/** The keywords `if`, `then` and `else`. The formatter takes an object with a property `then` for a promise. */
export const choose = (condition: unknown, match: unknown, otherwise: unknown): object =>
  Object.fromEntries([
    ['if', condition],
    ['then', match],
    ['else', otherwise],
  ]);
