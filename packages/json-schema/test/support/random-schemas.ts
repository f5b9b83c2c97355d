/**
 * Draws the same schemas and values for the same seed. Without what Ajv 8 gets wrong: `unevaluatedProperties` and
 * `unevaluatedItems` beside an `if` that does not match, and `contains` for an empty array after another array.
 */
export function createDraw(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const several = <T>(most: number, draw: () => T): T[] => Array.from({ length: 1 + below(most) }, draw);
  const named = <T>(most: number, draw: () => T) => Object.fromEntries(several(most, () => [pick(NAMES), draw()]));

  function schema(depth: number): object | boolean {
    if (depth <= 0 || below(12) === 0) return pick<object | boolean>([true, false, {}, { type: pick(TYPES) }]);
    const drawn = several(3, () => pick(Object.keys(KEYWORDS) as (keyof typeof KEYWORDS)[]));
    return Object.fromEntries(drawn.flatMap((keyword) => Object.entries(KEYWORDS[keyword](depth - 1))));
  }

  function value(depth: number): unknown {
    if (depth <= 0 || below(3) === 0) return pick(SCALARS);
    if (below(2) === 0) return Array.from({ length: below(4) }, () => value(depth - 1));
    return Object.fromEntries(Array.from({ length: below(4) }, () => [pick(NAMES), value(depth - 1)]));
  }

  const KEYWORDS = {
    type: () => ({ type: below(3) === 0 ? [...new Set(several(3, () => pick(TYPES)))] : pick(TYPES) }),
    enum: () => ({ enum: [...new Set(several(3, () => pick(SCALARS)))] }),
    const: () => ({ const: value(2) }),
    numbers: () => ({ [pick(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])]: below(4) }),
    multipleOf: () => ({ multipleOf: pick([1, 2, 0.5]) }),
    lengths: () => ({ [pick(['minLength', 'maxLength'])]: below(3) }),
    pattern: () => ({ pattern: pick(PATTERNS) }),
    counts: () => ({ [pick(['maxItems', 'minProperties', 'maxProperties'])]: below(4) }),
    uniqueItems: () => ({ uniqueItems: true }),
    required: () => ({ required: [...new Set(several(2, () => pick(NAMES)))] }),
    dependentRequired: () => ({ dependentRequired: named(2, () => [pick(NAMES)]) }),
    dependentSchemas: (depth: number) => ({ dependentSchemas: named(2, () => schema(depth)) }),
    properties: (depth: number) => ({ properties: named(3, () => schema(depth)) }),
    patternProperties: (depth: number) => ({ patternProperties: { [pick(PATTERNS)]: schema(depth) } }),
    additionalProperties: (depth: number) => ({ additionalProperties: schema(depth) }),
    propertyNames: (depth: number) => ({ propertyNames: schema(depth) }),
    prefixItems: (depth: number) => ({ prefixItems: several(3, () => schema(depth)) }),
    items: (depth: number) => ({ items: schema(depth) }),
    contains: (depth: number) => ({
      contains: schema(depth),
      minItems: 1,
      ...pick([{}, { minContains: 0 }, { maxContains: 1 }]),
    }),
    lists: (depth: number) => ({ [pick(['allOf', 'anyOf', 'oneOf'])]: several(3, () => schema(depth)) }),
    not: (depth: number) => ({ not: schema(depth) }),
    if: (depth: number) => ({ if: schema(depth), [pick(['then', 'else'])]: schema(depth) }),
    $ref: () => ({ $ref: pick(['#/$defs/a', '#/$defs/b', '#b']) }),
  };

  return {
    /** A schema of an object with definitions, some of which it refers to. */
    root(): Record<string, unknown> {
      const $defs = { a: schema(1), b: { $anchor: 'b', properties: { a: schema(1) } } };
      return { ...(schema(3) as object), ...(schema(3) as object), $defs };
    },
    value: () => value(3),
  };
}

const NAMES = ['a', 'b', 'ab', 'c'];
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const SCALARS = ['', 'a', 'ab', 'ccc', '🐲', 0, 1, 2, 2.5, 3, -1, true, false, null];
const PATTERNS = ['^a', 'b$', '^[ab]+$', 'c{2,3}'];
