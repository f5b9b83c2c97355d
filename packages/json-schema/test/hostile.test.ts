import t from 'tap';
import { compileSchema } from '../src/compile.ts';

const check = (schema: unknown, value: unknown) => compileSchema(schema, 'outputSchema').check(value);
const GAVE_UP = { problems: [{ path: '', message: 'takes too many steps to check' }], gaveUp: true };
const list = <T>(length: number, item: (index: number) => T): T[] => Array.from({ length }, (_, index) => item(index));

/** A value with `depth` objects in each other. */
function nest(depth: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
}

t.test('References that double at each step are given up', async (t) => {
  const step = (next: number) => ({ anyOf: [{ $ref: `#/$defs/d${next}` }, { $ref: `#/$defs/d${next}` }] });
  const $defs = Object.fromEntries([...list(60, (at) => [`d${at}`, step(at + 1)]), ['d60', { type: 'string' }]]);
  t.strictSame(check({ $ref: '#/$defs/d0', $defs }, {}), GAVE_UP);
});

t.test('Recursion that doubles at each level of the value is given up', async (t) => {
  const down = { properties: { a: { $ref: '#' } } };
  t.strictSame(check({ allOf: [down, down] }, nest(60)), GAVE_UP);
});

t.test('A value that is nested too deeply for the stack is given up', async (t) => {
  t.strictSame(check({ properties: { a: { $ref: '#' } } }, nest(5000)), GAVE_UP);
});

t.test('Patterns that make other engines backtrack are matched in linear time', async (t) => {
  for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*a){12}', '^(\\w+\\s?)*$']) {
    const { problems, gaveUp } = check({ pattern }, `${'a'.repeat(5000)}!`);
    t.strictSame([problems.length, gaveUp], [pattern.startsWith('(') ? 0 : 1, false], pattern);
  }
});

t.test('A pattern is not matched with more text than its size allows', async (t) => {
  t.strictSame(check({ pattern: '^(a|b)*a(a|b){12}$' }, 'ab'.repeat(100_000)), GAVE_UP);
  t.strictSame(
    check(
      { items: { not: { pattern: '\\p{L}{400}y' } } },
      list(1000, () => 'x'.repeat(100)),
    ),
    GAVE_UP,
  );
});

t.test('Large enums and constants cost no more than the value', async (t) => {
  const schema = { items: { enum: list(3000, (at) => at) } };
  t.same(
    check(
      schema,
      list(1000, (at) => at),
    ),
    { problems: [], gaveUp: false },
  );
  const deep = { anyOf: list(200, (at) => ({ const: { at } })) };
  t.strictSame(
    check(
      deep,
      list(20_000, (at) => ({ at })),
    ),
    GAVE_UP,
  );
});

t.test('Items are compared once each', async (t) => {
  t.same(
    check(
      { uniqueItems: true },
      list(8000, (at) => ({ at })),
    ),
    { problems: [], gaveUp: false },
  );
  t.match(
    check(
      { uniqueItems: true },
      list(8000, (at) => ({ at: at % 7999 })),
    ),
    { problems: [{ path: '' }] },
  );
});

t.test('Nested checks of uniqueness are given up', async (t) => {
  let value: unknown = list(1000, (at) => at);
  for (let level = 0; level < 300; level += 1) value = [value];
  t.strictSame(check({ uniqueItems: true, items: { $ref: '#' } }, value), GAVE_UP);
});

t.test('What many schemas evaluate of many properties is given up', async (t) => {
  const allOf = list(150, (at) => ({ properties: { [`p${at}`]: { unevaluatedProperties: false } } }));
  const value = Object.fromEntries(list(5000, (at) => [`p${at}`, {}]));
  t.strictSame(check({ allOf, unevaluatedProperties: false }, value), GAVE_UP);
});

t.test('Numbers of any size are divided', async (t) => {
  t.same(check({ multipleOf: 5e-324 }, 1.7976931348623157e308), { problems: [], gaveUp: false });
  t.strictSame(
    check(
      { items: { multipleOf: 1e-300 } },
      list(20_000, (at) => 1e300 + at),
    ),
    GAVE_UP,
  );
});

t.test('An ordinary answer of ten thousand objects is checked', async (t) => {
  const items = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } }, required: ['id'] };
  t.same(
    check(
      { items },
      list(10_000, (id) => ({ id, name: `n${id}` })),
    ),
    { problems: [], gaveUp: false },
  );
});

t.test('The first ten problems are listed, with names in one line', async (t) => {
  const { problems } = check(
    { items: { type: 'string' } },
    list(1000, (at) => at),
  );
  t.strictSame(
    problems.map(({ path }) => path),
    list(10, (at) => `[${at}]`),
  );
  const odd = check({ additionalProperties: false }, { 'a b\n"c"': 1, [`x${'y'.repeat(200)}`]: 2 });
  t.strictSame(
    odd.problems.map(({ path }) => path),
    ['["a b\\n\\"c\\""]', `["x${'y'.repeat(98)}…"]`],
  );
});
