import { type Case, choose } from './case.ts';

const fields = (...names: string[]) => Object.fromEntries(names.map((name) => [name, true]));

export const OBJECT_CASES: Case[] = [
  [{ maxProperties: 1 }, [{}, { a: 1 }, [1, 2]], [{ a: 1, b: 2 }]],
  [{ minProperties: 1 }, [{ a: 1 }, []], [{}]],
  [
    { required: ['a', '__proto__', 'toString'] },
    [JSON.parse('{"a":1,"__proto__":2,"toString":3}'), [], 'a'],
    [{ a: 1 }, {}],
  ],
  [{ dependentRequired: { a: ['b'], toString: ['c'] } }, [{}, { b: 1 }, { a: 1, b: 2 }, []], [{ a: 1 }]],
  [{ dependentRequired: { a: [] } }, [{ a: 1 }], []],
  [
    { dependentSchemas: { a: { properties: { b: { type: 'integer' } } }, c: false } },
    [{ b: 'x' }, { a: 1, b: 2 }, []],
    [{ a: 1, b: 'x' }, { c: 1 }],
  ],
  [{ properties: { a: { type: 'integer' }, b: false } }, [{ a: 1 }, { c: [] }, [1], {}], [{ a: '1' }, { b: 1 }]],
  [
    { properties: { constructor: { type: 'number' }, toString: { minLength: 1 } } },
    [{}, { constructor: 1 }],
    [{ constructor: 'x' }, { toString: '' }],
  ],
  [
    { properties: JSON.parse('{"__proto__": {"type": "number"}}') },
    [JSON.parse('{"__proto__": 1}')],
    [JSON.parse('{"__proto__": "x"}')],
  ],
  [{ properties: { 'a/b"c\n~': { const: 1 } } }, [{ 'a/b"c\n~': 1 }], [{ 'a/b"c\n~': 2 }]],
  [
    { patternProperties: { 'f.*o': { type: 'integer' } } },
    [{ foo: 1, bar: 'x' }, ['foo']],
    [{ foo: 'x' }, { xfoox: 'x' }],
  ],
  [{ patternProperties: { a: { maximum: 5 }, 'aa+': { minimum: 3 } } }, [{ aa: 4, a: 1 }], [{ aa: 1 }, { a: 9 }]],
  [{ properties: { a: true }, additionalProperties: false }, [{ a: 1 }, {}, [1]], [{ b: 1 }]],
  [
    { properties: { a: true }, patternProperties: { '^v': true }, additionalProperties: { type: 'boolean' } },
    [{ a: 1, vx: 1, c: true }],
    [{ c: 1 }],
  ],
  [{ allOf: [{ properties: { a: true } }], additionalProperties: { type: 'boolean' } }, [{ a: true }], [{ a: 1 }]],
  [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }, {}, []], [{ abc: 1 }]],
  [{ propertyNames: false }, [{}], [{ a: 1 }]],
  [{ propertyNames: { pattern: '^a' } }, [{ ab: 1 }], [{ ba: 1 }]],
  [{ unevaluatedProperties: false }, [{}, 1], [{ a: 1 }]],
  [{ unevaluatedProperties: { type: 'string' } }, [{ a: 'x' }], [{ a: 1 }]],
  [
    { properties: { a: true }, patternProperties: { '^b': true }, unevaluatedProperties: false },
    [{ a: 1, bc: 1 }],
    [{ c: 1 }],
  ],
  [{ additionalProperties: true, unevaluatedProperties: false }, [{ a: 1 }], []],
  [
    { allOf: [{ properties: fields('b') }], properties: fields('a'), unevaluatedProperties: false },
    [{ a: 1, b: 2 }],
    [{ a: 1, b: 2, c: 3 }],
  ],
  [{ allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false }, [{ a: 1 }], []],
  [{ allOf: [{ properties: fields('a') }, { unevaluatedProperties: false }] }, [{}], [{ a: 1 }]],
  [
    {
      anyOf: [
        { properties: { a: { const: 1 } }, required: ['a'] },
        { properties: { b: { const: 2 } }, required: ['b'] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1, b: 3 }, { a: 1, c: 1 }, {}],
  ],
  [
    {
      oneOf: [
        { properties: { a: { const: 1 } }, required: ['a'] },
        { properties: { b: { const: 2 } }, required: ['b'] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 2 }],
    [
      { a: 1, b: 2 },
      { a: 1, b: 3 },
    ],
  ],
  [{ not: { not: { properties: fields('a'), required: ['a'] } }, unevaluatedProperties: false }, [], [{ a: 1 }, {}]],
  [
    {
      ...choose(
        { properties: { a: { const: 1 } }, required: ['a'] },
        { properties: fields('b') },
        { properties: fields('c') },
      ),
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 2 }, { c: 1 }, {}],
    [{ a: 1, c: 1 }, { a: 2, c: 1 }, { b: 1 }],
  ],
  [
    { if: { patternProperties: { a: { type: 'string' } } }, unevaluatedProperties: false },
    [{ a: 'x' }, {}],
    [{ a: 1 }, { b: 1 }],
  ],
  [
    { dependentSchemas: { a: { properties: fields('a', 'b') } }, unevaluatedProperties: false },
    [{ a: 1, b: 2 }, {}],
    [{ b: 2 }, { a: 1, c: 1 }],
  ],
  [
    {
      $ref: '#/$defs/base',
      properties: fields('a'),
      unevaluatedProperties: false,
      $defs: { base: { properties: fields('b') } },
    },
    [{ a: 1, b: 2 }],
    [{ c: 3 }],
  ],
  [
    { properties: { a: { properties: fields('b'), unevaluatedProperties: false } } },
    [{ a: { b: 1 } }],
    [{ a: { c: 1 } }],
  ],
  [
    {
      allOf: [{ $ref: '#/$defs/one' }, { properties: fields('b') }],
      unevaluatedProperties: false,
      $defs: { one: { allOf: [{ properties: fields('a') }] } },
    },
    [{ a: 1, b: 1 }],
    [{ c: 1 }],
  ],
];
