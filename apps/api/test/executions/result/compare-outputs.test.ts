import type { OutputChange } from '@carillon/db';
import t from 'tap';
import { compareOutputs } from '../../../src/product/executions/result/compare/compare-outputs.ts';

const parse = (json: string) => JSON.parse(json);

/** Title, watched paths, both outputs as JSON, and the changes. */
const CASES: [string, string[], string, string, OutputChange[]][] = [
  ['Numbers are compared by value', ['price'], '{"price":1}', '{"price":1.0}', []],
  ['An exponent is only another notation', ['price'], '{"price":1200}', '{"price":1.2e3}', []],
  ['A number is not its text', ['price'], '{"price":1}', '{"price":"1"}', [{ path: 'price', from: 1, to: '1' }]],
  [
    'A changed number is one change',
    ['price'],
    '{"price":12.5}',
    '{"price":11.9}',
    [{ path: 'price', from: 12.5, to: 11.9 }],
  ],
  ['False is neither null nor 0', ['x'], '{"x":false}', '{"x":0}', [{ path: 'x', from: false, to: 0 }]],
  ['A missing value has no `to`', ['x'], '{"x":null}', '{}', [{ path: 'x', from: null }]],
  ['A value that was missing has no `from`', ['x'], '{}', '{"x":null}', [{ path: 'x', to: null }]],
  ['A value that is missing in both is no change', ['x', 'y.z', 'l[].a', 'l[k].a'], '{}', '{"a":1}', []],
  ['Only watched values count', ['price'], '{"price":1,"note":"a"}', '{"price":1,"note":"b"}', []],
  ['The order of fields does not count', [], '{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}', []],
  [
    'Each changed leaf of a watched object is a change',
    ['a'],
    '{"a":{"b":1,"c":{"d":2}}}',
    '{"a":{"b":1,"c":{"d":3}}}',
    [{ path: 'a.c.d', from: 2, to: 3 }],
  ],
  [
    'Without a path the whole output is compared',
    [],
    '{"a":1,"b":[1,2]}',
    '{"a":2,"b":[1,3]}',
    [
      { path: 'a', from: 1, to: 2 },
      { path: 'b[1]', from: 2, to: 3 },
    ],
  ],
  [
    'An object that became a list is one change',
    ['a'],
    '{"a":{"0":1}}',
    '{"a":[1]}',
    [{ path: 'a', from: { 0: 1 }, to: [1] }],
  ],
  ['The whole output may change its type', [], '[1]', '{"a":1}', [{ path: '', from: [1], to: { a: 1 } }]],
  [
    'Lists are compared by position',
    ['l[].v'],
    '{"l":[{"v":1},{"v":2}]}',
    '{"l":[{"v":2},{"v":1}]}',
    [
      { path: 'l[0].v', from: 1, to: 2 },
      { path: 'l[1].v', from: 2, to: 1 },
    ],
  ],
  ['An element at the end is added by position', ['l[]'], '{"l":[1]}', '{"l":[1,2]}', [{ path: 'l[1]', to: 2 }]],
  ['One position can be watched', ['l[0]'], '{"l":[1,2]}', '{"l":[1,3]}', []],
  [
    'With a key the order of elements does not count',
    ['l[id].v'],
    '{"l":[{"id":"a","v":1},{"id":"b","v":2}]}',
    '{"l":[{"id":"b","v":2},{"id":"a","v":1}]}',
    [],
  ],
  [
    'With a key a change has the value of the key',
    ['l[id].v'],
    '{"l":[{"id":"a","v":1},{"id":"b","v":2}]}',
    '{"l":[{"id":"c","v":0},{"id":"b","v":3},{"id":"a","v":1}]}',
    [
      { path: 'l[id="c"].v', to: 0 },
      { path: 'l[id="b"].v', from: 2, to: 3 },
    ],
  ],
  [
    'With a key an element that is gone is a change',
    ['l[id].v'],
    '{"l":[{"id":1,"v":1}]}',
    '{"l":[]}',
    [{ path: 'l[id=1].v', from: 1 }],
  ],
  [
    'Keys are compared like values',
    ['l[id].v'],
    '{"l":[{"id":1,"v":1}]}',
    '{"l":[{"id":"1","v":1}]}',
    [
      { path: 'l[id="1"].v', to: 1 },
      { path: 'l[id=1].v', from: 1 },
    ],
  ],
  [
    'Elements with the same key are paired in their order',
    ['l[id].v'],
    '{"l":[{"id":"a","v":1},{"id":"a","v":2}]}',
    '{"l":[{"id":"a","v":1},{"id":"a","v":3}]}',
    [{ path: 'l[1].v', from: 2, to: 3 }],
  ],
  [
    'Elements without the key are paired in their order',
    ['l[id]'],
    '{"l":[{"v":1},5]}',
    '{"l":[{"v":1},6]}',
    [{ path: 'l[1]', from: 5, to: 6 }],
  ],
  [
    'Two paths to one value make one change',
    ['a', 'a', '["a"]'],
    '{"a":1}',
    '{"a":2}',
    [{ path: 'a', from: 1, to: 2 }],
  ],
  [
    'A name with dots is quoted',
    ['["a.b"]'],
    '{"a.b":1,"a":{"b":1}}',
    '{"a.b":2,"a":{"b":3}}',
    [{ path: '["a.b"]', from: 1, to: 2 }],
  ],
  [
    'Names of the prototype are names like others',
    ['__proto__', 'constructor'],
    '{"__proto__":1}',
    '{"__proto__":2}',
    [{ path: '__proto__', from: 1, to: 2 }],
  ],
  [
    'A text has no elements and a list no fields',
    ['a[]', 'a.length', 'l.length'],
    '{"a":"xy","l":[1]}',
    '{"a":"xz","l":[]}',
    [],
  ],
  [
    'Only nested lists are followed by several brackets',
    ['m[][]'],
    '{"m":[[1,2],[3]]}',
    '{"m":[[1,2],[4]]}',
    [{ path: 'm[1][0]', from: 3, to: 4 }],
  ],
];

for (const [title, watch, from, to, changes] of CASES) {
  t.test(title, async (t) => {
    t.strictSame(compareOutputs(parse(from), parse(to), watch), changes);
    t.strictSame(compareOutputs(parse(to), parse(to), watch), [], 'an output equals itself');
  });
}

t.test('A missing earlier output has none of the values', async (t) => {
  t.strictSame(compareOutputs(undefined, { price: 1, a: 2 }, ['price', 'b']), [{ path: 'price', to: 1 }]);
  t.strictSame(compareOutputs(undefined, { price: 1 }, []), [{ path: '', to: { price: 1 } }]);
});

t.test('At most 100 changes are kept, and the last entry says that there are more', async (t) => {
  const list = (count: number, of: number) => ({ l: Array.from({ length: count }, () => of) });
  t.equal(compareOutputs(list(100, 1), list(100, 2), [])?.length, 100);
  t.notOk(compareOutputs(list(100, 1), list(100, 2), [])?.at(-1)?.cut);
  const more = compareOutputs(list(101, 1), list(101, 2), []);
  t.equal(more?.length, 101);
  t.strictSame(more?.at(-1), { path: '', cut: true });
});

t.test('A long value is cut, and the change says so', async (t) => {
  const long = { text: 'x'.repeat(5000), list: Array(5000).fill('abc'), map: { k: 'y'.repeat(3000) } };
  const changes = compareOutputs({ text: 1, list: 1, map: 1 }, long, []) ?? [];
  t.strictSame(
    changes.map(({ path, cut }) => [path, cut]),
    [
      ['text', true],
      ['list', true],
      ['map', true],
    ],
  );
  t.equal(changes[0]?.to, `${'x'.repeat(2000)}…`);
  for (const { to } of changes) t.ok(JSON.stringify(to).length < 4000);
  t.strictSame(compareOutputs({ a: 'x'.repeat(2000) }, { a: 1 }, []), [{ path: 'a', from: 'x'.repeat(2000), to: 1 }]);
});

t.test('What is stored of a hostile output stays below 64 KiB and can be stored', async (t) => {
  const nasty = '\u0000\ud800€"\u0001';
  const deep = (levels: number, leaf: unknown) =>
    parse(`${'{"a":['.repeat(levels)}${JSON.stringify(leaf)}${']}'.repeat(levels)}`);
  const wide = (seed: string) =>
    Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`${nasty}${n}`.repeat(40), seed.repeat(900)]));
  const outputs: [unknown, unknown][] = [
    [wide(`a${nasty}`), wide(`b${nasty}`)],
    [deep(20_000, 1), deep(20_000, 2)],
    [1, deep(20_000, 2)],
    [Array(90_000).fill(1), Array(90_000).fill(2)],
    [{ l: [{ id: 'k'.repeat(9000), v: 1 }] }, { l: [] }],
  ];
  for (const [from, to] of outputs) {
    const json = JSON.stringify(compareOutputs(from, to, []));
    t.ok(json.length > 10 && Buffer.byteLength(json) < 65_536, `${Buffer.byteLength(json)} bytes`);
    JSON.parse(json, (name, value) => {
      for (const text of [name, value].filter((part) => typeof part === 'string'))
        if (!text.isWellFormed() || text.includes('\u0000')) t.fail(text);
      return value;
    });
  }
  t.equal(compareOutputs(deep(20_000, 1), deep(20_000, 1), [])?.length, 0);
  const keyed = JSON.stringify(compareOutputs(outputs[4]?.[0], outputs[4]?.[1], ['l[id]']));
  t.ok(keyed.length < 5000);
});

t.test('An output with more values than can be compared is not compared', async (t) => {
  const many = Array(60_000).fill({ id: 1 });
  t.equal(compareOutputs(many, [...many], ['[id].a', '[].a']), null);
});
