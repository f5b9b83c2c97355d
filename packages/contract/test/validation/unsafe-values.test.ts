import { findUnsafeValue } from '@carillon/contract/validation/validator';
import t from 'tap';

/** `levels` objects inside each other. */
function nest(levels: number, key = 'a'): unknown {
  let value: unknown = 'end';
  for (let level = 0; level < levels; level += 1) value = { [key]: value };
  return value;
}

t.test('ordinary values pass', async (t) => {
  for (const value of [
    null,
    undefined,
    1,
    true,
    '',
    'naïve 😀 \u0001 \n',
    [],
    {},
    { a: [{ b: [1, 'x'] }] },
    nest(32),
  ]) {
    t.equal(findUnsafeValue(value), null);
  }
  t.equal(findUnsafeValue(Array(1000).fill('x')), null);
});

t.test('NUL characters and lone surrogates are found, in values and in keys', async (t) => {
  t.match(findUnsafeValue({ a: [{ b: 'x\0y' }] }), { field: 'a', message: /^item 1 b must not contain the NUL/ });
  t.match(findUnsafeValue('\0'), { field: '', message: /NUL/ });
  for (const text of ['\ud800', 'x\udc00', '\ude00\ud83d']) {
    t.match(findUnsafeValue({ prompt: text }), { field: 'prompt', message: /surrogate/ });
    t.match(findUnsafeValue({ prompt: { [text]: 1 } }), { message: /surrogate pair in its name/ });
  }
  t.match(findUnsafeValue({ 'a\0b': 1 }), { field: 'ab', message: /NUL character in its name/ });
  t.equal(findUnsafeValue({ '😀': '😀' }), null, 'a whole pair is one character');
});

t.test('values that are too deep or too wide are found', async (t) => {
  t.match(findUnsafeValue({ list: Array(1001).fill(1) }), { field: 'list', message: 'must have at most 1000 items' });
  const wide = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`k${at}`, at]));
  t.match(findUnsafeValue({ map: wide }), { field: 'map', message: 'must have at most 1000 fields' });
  t.match(findUnsafeValue(nest(33)), { message: /nested deeper than 32/ });
  t.match(findUnsafeValue(JSON.parse(`${'['.repeat(33)}${']'.repeat(33)}`)), { message: /nested deeper than 32/ });
});

t.test('a value with too many values in total is found early', async (t) => {
  const crowd = Array.from({ length: 1000 }, () => Array.from({ length: 1000 }, () => []));
  t.match(findUnsafeValue({ crowd }), { field: 'crowd', message: /^item \d+ .*above 100000 values/ });
});

t.test('binary data is not traversed', async (t) => {
  t.equal(findUnsafeValue(Buffer.alloc(5000)), null);
  t.equal(findUnsafeValue({ file: new Uint8Array(5000) }), null);
});

t.test('20,000 levels do not overflow the stack', async (t) => {
  t.match(findUnsafeValue(nest(20_000)), { message: /nested deeper/ });
  t.match(findUnsafeValue({ context: { preferences: nest(20_000) } }), { field: /^context\.preferences\.a/ });
  const names = nest(20_000, 'x'.repeat(50));
  t.ok((findUnsafeValue(names)?.field.length ?? 0) <= 200, 'and the name in the answer stays short');
});
