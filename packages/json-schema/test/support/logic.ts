import { type Case, choose } from './case.ts';

export const LOGIC_CASES: Case[] = [
  [{ allOf: [{ minimum: 2 }, { maximum: 3 }] }, [2, 3], [1, 4]],
  [{ allOf: [true, false] }, [], [1]],
  [{ anyOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5, 'a'], [1.5]],
  [{ type: 'string', anyOf: [{ maxLength: 2 }, { minLength: 4 }] }, ['a', 'abcd'], [3, 'abc']],
  [{ anyOf: [false, false] }, [], [1]],
  [{ oneOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5], [3, 1.5]],
  [{ oneOf: [true, true, false] }, [], [1]],
  [{ oneOf: [{ required: ['a'] }, { required: ['b'] }] }, [{ a: 1 }, { b: 1 }], [{}, { a: 1, b: 1 }]],
  [{ not: { type: ['integer', 'boolean'] } }, ['a', 1.1], [1, true]],
  [{ not: {} }, [], [1, null]],
  [{ not: false }, [1], []],
  [{ properties: { a: { not: {} } } }, [{ b: 1 }], [{ a: 1 }]],
  [choose({ exclusiveMaximum: 0 }, { minimum: -10 }, { multipleOf: 2 }), [-1, 4], [-100, 3]],
  [{ if: { const: 0 } }, [0, 1], []],
  [Object.fromEntries([['then', { const: 0 }]]), [0, 1], []],
  [{ else: { const: 0 } }, [0, 1], []],
  [choose(true, { const: 'a' }, { const: 'b' }), ['a'], ['b']],
  [choose(false, { const: 'a' }, { const: 'b' }), ['b'], ['a']],
  [{ properties: { a: { $ref: '#' } }, additionalProperties: false }, [{ a: { a: {} } }], [{ a: { b: 1 } }]],
  [{ prefixItems: [{ type: 'integer' }, { $ref: '#/prefixItems/0' }] }, [[1, 2]], [[1, 'a']]],
  [
    { $ref: '#/$defs/a~1b%25/properties/x~0', $defs: { 'a/b%': { properties: { 'x~': { type: 'string' } } } } },
    ['a'],
    [1],
  ],
  [{ $ref: '#/$defs/list', maxItems: 2, $defs: { list: { type: 'array' } } }, [[1]], [[1, 2, 3], 'a']],
  [{ $ref: '#here', $defs: { a: { $anchor: 'here', type: 'integer' } } }, [1], ['a']],
  [
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/c' }, c: { type: 'integer' } } },
    [1],
    ['a'],
  ],
  [{ $ref: '#/definitions/a', definitions: { a: { type: 'integer' } } }, [1], ['a']],
  [{ $ref: '#/$defs/yes', $defs: { yes: true } }, [1], []],
  [{ $ref: '#/$defs/no', $defs: { no: false } }, [], [1]],
  [{ properties: { $ref: { type: 'string' } } }, [{ $ref: 'a' }], [{ $ref: 1 }]],
  [
    { properties: { $ref: { $ref: '#/$defs/text' } }, $defs: { text: { type: 'string' } } },
    [{ $ref: 'a' }],
    [{ $ref: 1 }],
  ],
  [{ enum: [{ $ref: '#/$defs/a' }], $defs: { a: { type: 'integer' } } }, [{ $ref: '#/$defs/a' }], [1]],
  [
    {
      $defs: {
        node: { properties: { value: { type: 'number' }, next: { $ref: '#/$defs/node' } }, required: ['value'] },
      },
      $ref: '#/$defs/node',
    },
    [{ value: 1, next: { value: 2 } }],
    [
      { value: 1, next: { value: 'x' } },
      { value: 1, next: {} },
    ],
  ],
  [
    { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'https://example.com/price', type: 'number' },
    [1],
    ['a'],
  ],
  [
    {
      allOf: [{ properties: { a: { $ref: '#/$defs/int' } } }, { additionalProperties: { $ref: '#/$defs/int' } }],
      $defs: { int: { type: 'integer' } },
    },
    [{ a: 1 }],
    [{ a: 'x' }],
  ],
];
