import { type Case, choose } from './case.ts';

export const ARRAY_CASES: Case[] = [
  [{ maxItems: 2 }, [[], [1, 2], 'abc', { length: 3 }], [[1, 2, 3]]],
  [{ minItems: 1 }, [[1], ''], [[]]],
  [
    { uniqueItems: true },
    [[], [1, true], [0, false], [[1], [true]], [{ a: 0 }, { a: false }], ['1', 1]],
    [
      [1, 1.0],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[1], [2], [1]],
      ['a', 'a'],
      [0, -0],
    ],
  ],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ items: { type: 'integer' } }, [[], [1, 2], { 0: 'a' }], [[1, 'x']]],
  [{ items: false }, [[], 1], [[null]]],
  [{ items: true }, [[1, 'a']], []],
  [
    { prefixItems: [{ type: 'integer' }, { type: 'string' }] },
    [[], [1], [1, 'a'], [1, 'a', null], { 0: 'x' }],
    [['a'], [1, 2]],
  ],
  [{ prefixItems: [true, false] }, [[], [1]], [[1, 2]]],
  [
    { prefixItems: [{}, {}], items: { type: 'integer' } },
    [
      ['a', 'b'],
      ['a', 'b', 1],
    ],
    [[1, 2, 'c']],
  ],
  [{ prefixItems: [true], items: false }, [[], [1]], [[1, 2]]],
  [
    { allOf: [{ prefixItems: [{ minimum: 3 }] }], items: { minimum: 5 } },
    [[5, 5]],
    [
      [3, 5],
      [5, 3],
    ],
  ],
  [{ contains: { minimum: 5 } }, [[3, 5], [5, 6], {}, 'a'], [[], [2, 3]]],
  [{ contains: true }, [[1]], [[]]],
  [{ contains: false }, ['not an array'], [[1], []]],
  [{ contains: { const: null } }, [[null]], [[0]]],
  [{ items: { contains: { type: 'string' } } }, [[['a'], ['b', 1]]], [[['a'], []]]],
  [{ contains: { const: 1 }, maxContains: 1 }, [[1], [1, 2]], [[], [1, 1], [2]]],
  [
    { contains: { const: 1 }, minContains: 2 },
    [
      [1, 1],
      [1, 2, 1],
    ],
    [[], [1], [1, 2]],
  ],
  [{ contains: { const: 1 }, minContains: 0 }, [[], [2], [1, 1]], []],
  [{ contains: { const: 1 }, minContains: 0, maxContains: 1 }, [[], [1]], [[1, 1]]],
  [{ contains: { const: 1 }, minContains: 2, maxContains: 1 }, [], [[1], [1, 1]]],
  [{ minContains: 5, maxContains: 1 }, [[], [1, 1, 1]], []],
  [{ unevaluatedItems: false }, [[], 1], [[1]]],
  [{ unevaluatedItems: { type: 'string' } }, [['a']], [[1]]],
  [{ items: true, unevaluatedItems: false }, [[1, 2]], []],
  [{ prefixItems: [true], unevaluatedItems: false }, [[1]], [[1, 2]]],
  [
    { prefixItems: [true], allOf: [{ prefixItems: [true, { type: 'number' }] }], unevaluatedItems: false },
    [[1, 2]],
    [
      [1, 2, 3],
      [1, 'a'],
    ],
  ],
  [{ allOf: [{ items: { type: 'string' } }], unevaluatedItems: { type: 'boolean' } }, [['a', 'b']], [['a', true]]],
  [
    {
      anyOf: [{ prefixItems: [true, { const: 'b' }] }, { prefixItems: [true, true, { const: 'c' }] }],
      unevaluatedItems: false,
    },
    [
      ['a', 'b'],
      ['a', 'b', 'c'],
      ['a', 'x', 'c'],
    ],
    [
      ['a', 'b', 'x'],
      ['a', 'b', 'c', 1],
    ],
  ],
  [{ not: { not: { prefixItems: [true] } }, unevaluatedItems: false }, [[]], [[1]]],
  [
    { contains: { multipleOf: 2 }, unevaluatedItems: { multipleOf: 3 } },
    [
      [2, 3, 4],
      [2, 6],
    ],
    [[2, 5], [3]],
  ],
  [
    { allOf: [{ contains: { multipleOf: 2 } }, { contains: { multipleOf: 3 } }], unevaluatedItems: { multipleOf: 5 } },
    [[2, 3, 5, 6]],
    [[2, 3, 7]],
  ],
  [
    {
      ...choose({ prefixItems: [{ const: 'a' }] }, { prefixItems: [true, true] }, { prefixItems: [true] }),
      unevaluatedItems: false,
    },
    [['a', 1], ['b']],
    [
      ['a', 1, 2],
      ['b', 1],
    ],
  ],
  [
    { if: { items: { type: 'number' } }, unevaluatedItems: { type: 'string' } },
    [[1, 2], ['a'], []],
    [
      [1, true],
      [[1], 'a'],
    ],
  ],
  [{ $ref: '#/$defs/first', unevaluatedItems: false, $defs: { first: { prefixItems: [true] } } }, [[1]], [[1, 2]]],
  [{ dependentSchemas: { a: { unevaluatedItems: true } }, unevaluatedItems: false }, [[]], [[1]]],
  [
    { properties: { a: { prefixItems: [true] } }, allOf: [{ properties: { a: { unevaluatedItems: false } } }] },
    [{ a: [] }],
    [{ a: [1] }],
  ],
];
