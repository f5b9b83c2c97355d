import t from 'tap';
import { findDifferences } from './compare.ts';
import { parseSteps } from './pages.ts';

t.test('the blocks of a page are parsed with their outcomes', async (t) => {
  const page = [
    '```sh',
    'echo a',
    '```',
    '',
    'prints',
    '',
    '```text',
    'a',
    '```',
    '```js',
    'x',
    '```',
    '```sh',
    'b',
    '```',
  ];
  t.same(parseSteps(page.join('\n')), [
    { code: 'echo a\n', line: 1, outcome: { kind: 'text', text: 'a\n' } },
    { code: 'b\n', line: 13, outcome: null },
  ]);
});

t.test('an outcome that differs from the output is found', async (t) => {
  const json = (shown: object, printed: object) =>
    findDifferences({ kind: 'json', text: JSON.stringify(shown, null, 2) }, `before\n${JSON.stringify(printed)}\n`);
  t.same(json({ a: 1 }, { a: 1, b: 2 }), []);
  t.same(json({ at: '2026-11-20T10:00:00.000Z', x: 'whsec_…' }, { at: '2030-01-01T00:00:00.000Z', x: 'whsec_1' }), []);
  t.same(json({ a: [{ b: null }] }, { a: [{ b: null }] }), []);
  for (const [shown, printed] of [
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, {}],
    [{ a: [] }, { a: [1] }],
    [{ a: [] }, { a: {} }],
    [{ a: 'x.…' }, { a: 'xy' }],
    [{ a: null }, { a: 0 }],
    [{ a: { b: true } }, { a: { b: false } }],
  ] as const) {
    t.equal(json(shown, printed).length, 1);
  }
  t.equal(findDifferences({ kind: 'json', text: '{"a": 1}' }, 'no JSON').length, 1);
  t.same(
    findDifferences(
      { kind: 'http', text: 'HTTP/1.1 404 …\nRetry-After: …\n' },
      'HTTP/1.1 404 Not Found\r\nretry-after: 3\r\n',
    ),
    [],
  );
  t.equal(findDifferences({ kind: 'http', text: 'X-A: 1\n' }, 'x-a: 2\r\n').length, 1);
  t.same(findDifferences({ kind: 'text', text: 'a…c\n' }, 'abc\n'), []);
  t.equal(findDifferences({ kind: 'text', text: 'a\n' }, 'ab\n').length, 1);
});
