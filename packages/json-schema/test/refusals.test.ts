import t from 'tap';
import { compileSchema } from '../src/compile.ts';
import { SchemaError } from '../src/schema-node.ts';

/** Where the schema is refused, and why. */
function refusalOf(schema: unknown): string {
  try {
    compileSchema(schema, 'outputSchema');
    return 'it is accepted';
  } catch (error) {
    if (error instanceof SchemaError) return `${error.field} ${error.message}`;
    throw error;
  }
}

const nest = (levels: number): unknown => (levels === 1 ? {} : { properties: { a: nest(levels - 1) } });
const repeat = (count: number, name: (index: number) => string, schema: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), schema(index)]));

t.test('A keyword with a wrong value is refused at its place', async (t) => {
  for (const [schema, place] of [
    [7, 'outputSchema must be a schema'],
    [null, 'outputSchema must be a schema'],
    [[], 'outputSchema must be a schema'],
    [{ type: 'text' }, 'outputSchema.type must be one or more of'],
    [{ type: [] }, 'outputSchema.type must be one or more of'],
    [{ type: ['string', 'string'] }, 'outputSchema.type must not name a type twice'],
    [{ type: 'constructor' }, 'outputSchema.type must be one or more of'],
    [{ enum: 'a' }, 'outputSchema.enum must be an array'],
    [{ multipleOf: 0 }, 'outputSchema.multipleOf must be more than 0'],
    [{ minimum: '1' }, 'outputSchema.minimum must be a number'],
    [{ maxLength: -1 }, 'outputSchema.maxLength must be an integer of at least 0'],
    [{ minItems: 1.5 }, 'outputSchema.minItems must be an integer of at least 0'],
    [{ uniqueItems: 1 }, 'outputSchema.uniqueItems must be a boolean'],
    [{ minContains: -1 }, 'outputSchema.minContains must be an integer of at least 0'],
    [{ required: 'a' }, 'outputSchema.required must be an array of strings'],
    [{ required: ['a', 'a'] }, 'outputSchema.required must not name a property twice'],
    [{ dependentRequired: { a: [1] } }, 'outputSchema.dependentRequired.a must be an array of strings'],
    [{ properties: [] }, 'outputSchema.properties must be an object'],
    [{ properties: { price: 7 } }, 'outputSchema.properties.price must be a schema'],
    [{ properties: { price: { pattern: 7 } } }, 'outputSchema.properties.price.pattern must be a string'],
    [{ properties: { price: { pattern: '(' } } }, 'outputSchema.properties.price.pattern is not a regular expression'],
    [{ patternProperties: { '[': {} } }, 'outputSchema.patternProperties.[ is not a regular expression'],
    [{ allOf: {} }, 'outputSchema.allOf must be an array'],
    [{ anyOf: [] }, 'outputSchema.anyOf must be an array'],
    [{ anyOf: [{ oneOf: [{}, { not: 'a' }] }] }, 'outputSchema.anyOf.0.oneOf.1.not must be a schema'],
    [{ items: [{}] }, 'outputSchema.items must be a schema; a list of schemas is prefixItems'],
    [{ $defs: { unused: { minimum: 'a' } } }, 'outputSchema.$defs.unused.minimum must be a number'],
  ] as const) {
    const refusal = refusalOf(schema);
    t.ok(refusal.startsWith(place), `${JSON.stringify(schema)}: ${refusal}`);
  }
});

t.test('References lead to schemas of the same document', async (t) => {
  for (const [schema, place] of [
    [{ $ref: 'https://example.com/a.json' }, 'outputSchema.$ref must be a reference within this schema'],
    [{ $ref: 'a.json#/b' }, 'outputSchema.$ref must be a reference within this schema'],
    [{ $ref: '' }, 'outputSchema.$ref must be a reference within this schema'],
    [{ $ref: 7 }, 'outputSchema.$ref must be a string'],
    [{ properties: { a: { $ref: '#/$defs/none' } } }, 'outputSchema.properties.a.$ref leads to no schema'],
    [{ $ref: '#none' }, 'outputSchema.$ref leads to no schema'],
    [{ $ref: '#/%ZZ' }, 'outputSchema.$ref leads to no schema'],
    [{ $ref: '#/examples/0', examples: [{}] }, 'outputSchema.$ref leads to no schema'],
    [{ $dynamicRef: '#a' }, 'outputSchema.$dynamicRef is not supported'],
    [{ $defs: { a: { $dynamicAnchor: 'a' } } }, 'outputSchema.$defs.a.$dynamicAnchor is not supported'],
    [{ $recursiveRef: '#' }, 'outputSchema.$recursiveRef is not of the draft 2020-12'],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, 'outputSchema.$schema must be https://json-schema.org'],
    [{ $vocabulary: {} }, 'outputSchema.$vocabulary is not supported'],
    [{ $id: 'relative' }, 'outputSchema.$id must be an absolute address'],
    [{ $defs: { a: { $id: 'https://example.com/a' } } }, 'outputSchema.$defs.a.$id is supported at the root only'],
    [{ $anchor: 'a b' }, 'outputSchema.$anchor must begin with a letter'],
    [{ $anchor: 'a', not: { $anchor: 'a' } }, 'outputSchema.not.$anchor is the anchor of two schemas'],
    [{ $ref: '#' }, 'outputSchema leads back to itself'],
    [{ anyOf: [{ $ref: '#' }, {}] }, 'outputSchema leads back to itself'],
    [
      { $ref: '#/$defs/a', $defs: { a: { not: { $ref: '#/$defs/b' } }, b: { $ref: '#/$defs/a' } } },
      'outputSchema.$defs.a',
    ],
  ] as const) {
    const refusal = refusalOf(schema);
    t.ok(refusal.startsWith(place), `${JSON.stringify(schema)}: ${refusal}`);
  }
});

t.test('The limits of a schema are exact', async (t) => {
  t.equal(refusalOf(nest(10)), 'it is accepted');
  t.match(refusalOf(nest(11)), /must not be nested deeper than 10 levels/);
  const many = (count: number) => ({
    properties: repeat(
      count,
      (index) => `p${index}`,
      () => true,
    ),
  });
  t.equal(refusalOf(many(499)), 'it is accepted');
  t.match(refusalOf(many(500)), /properties\.p499 is one of more than 500 schemas/);
  const patterns = (count: number) => ({
    patternProperties: repeat(
      count,
      (index) => `^p${index}`,
      () => true,
    ),
  });
  t.equal(refusalOf(patterns(50)), 'it is accepted');
  t.match(refusalOf(patterns(51)), /is one of more than 50 different patterns/);
  t.equal(refusalOf({ pattern: 'a'.repeat(200) }), 'it is accepted');
  t.match(refusalOf({ pattern: 'a'.repeat(201) }), /pattern must have at most 200 characters/);
  const equal = {
    properties: repeat(
      60,
      (index) => `p${index}`,
      () => ({ pattern: '^a{2,9}$' }),
    ),
  };
  t.equal(refusalOf(equal), 'it is accepted', 'equal patterns count once');
});

t.test('Patterns that could not be matched in time are refused', async (t) => {
  for (const [pattern, reason] of [
    ['(?=a)b', /is not a regular expression of RE2/],
    ['(?<!a)b', /is not a regular expression of RE2/],
    ['(a)\\1', /is not a regular expression of RE2/],
    ['a{1,501}', /above 500 repetitions/],
    ['(a{0,100}){0,401}', /above 500 repetitions/],
    ['((((a{9}){9}){9}){9}){9}', /not a regular expression|above what can be checked/],
  ] as const) {
    t.match(refusalOf({ pattern }), reason, pattern);
  }
  const letters = 'abcdefghijklmnopqrstuvwxyz'.repeat(7);
  const long = {
    properties: repeat(
      11,
      (index) => `p${index}`,
      (index) => ({ pattern: `[${letters}]${index}` }),
    ),
  };
  t.match(refusalOf(long), /above 2000 characters/);
});
