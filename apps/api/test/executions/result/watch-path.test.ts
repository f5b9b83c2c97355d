import t from 'tap';
import { formatName, parseWatchPath } from '../../../src/product/executions/result/compare/watch-path.ts';
import { testContext } from '../../support/context.ts';
import { signUpAlice } from '../../support/people.ts';
import { patchTask, postTask, readTask } from '../../support/tasks.ts';

const VALID = {
  price: [{ kind: 'name', name: 'price' }],
  'a.b': [
    { kind: 'name', name: 'a' },
    { kind: 'name', name: 'b' },
  ],
  'releases[].date': [{ kind: 'name', name: 'releases' }, { kind: 'each' }, { kind: 'name', name: 'date' }],
  'releases[version].date': [
    { kind: 'name', name: 'releases' },
    { kind: 'keyed', key: 'version' },
    { kind: 'name', name: 'date' },
  ],
  'rows[2][0]': [
    { kind: 'name', name: 'rows' },
    { kind: 'at', index: 2 },
    { kind: 'at', index: 0 },
  ],
  '[].id': [{ kind: 'each' }, { kind: 'name', name: 'id' }],
  '["a.b"].c': [
    { kind: 'name', name: 'a.b' },
    { kind: 'name', name: 'c' },
  ],
  'a["say \\"hi\\"]["]': [
    { kind: 'name', name: 'a' },
    { kind: 'name', name: 'say "hi"][' },
  ],
  'preis_in_€.größe-1$': [
    { kind: 'name', name: 'preis_in_€' },
    { kind: 'name', name: 'größe-1$' },
  ],
  '__proto__.constructor': [
    { kind: 'name', name: '__proto__' },
    { kind: 'name', name: 'constructor' },
  ],
};
const INVALID = [
  '',
  '.',
  '.price',
  'price.',
  'a..b',
  'a b',
  ' price',
  'price ',
  'a[',
  'a]',
  'a[]b',
  'a.[0]',
  'a[ ]',
  'a[ id]',
  'a["b]',
  'a["\\x"]',
  'a[1234567]',
  'a"b',
];

t.test('A path names fields, elements by position, each element, and elements by a key', async (t) => {
  for (const [path, steps] of Object.entries(VALID)) t.strictSame(parseWatchPath(path), steps, path);
});

t.test('A path that breaks the grammar is not valid', async (t) => {
  for (const path of INVALID) t.equal(parseWatchPath(path), null, path);
});

t.test('A name in the path of a change is read back as that name', async (t) => {
  for (const name of ['price', 'a.b', 'a b', '', '"', '[0]', '\n', 'größe', '__proto__']) {
    t.strictSame(parseWatchPath(formatName(name, true)), [{ kind: 'name', name }], name);
    t.strictSame(parseWatchPath(`x${formatName(name, false)}`)?.at(-1), { kind: 'name', name }, name);
  }
});

t.test('A task names the path that it refuses, and takes paths that its output may never have', async (t) => {
  const { app } = await testContext(t);
  const alice = await signUpAlice(app);
  const id = await postTask(app, alice, { watch: ['price', 'releases[version].date', 'never.there'] });
  t.strictSame((await readTask(app, alice, id)).watch, ['price', 'releases[version].date', 'never.there']);
  for (const path of INVALID.slice(1)) {
    const answer = await patchTask(app, alice, id, { watch: ['price', path] });
    t.match([answer.statusCode, answer.json()], [400, { details: { watch: [/^item 2 must be a path/] } }], path);
  }
  t.equal((await patchTask(app, alice, id, { watch: [''] })).statusCode, 400);
  t.equal((await patchTask(app, alice, id, { watch: ['a'.repeat(201)] })).statusCode, 400);
  t.equal((await patchTask(app, alice, id, { watch: Array(21).fill('a') })).statusCode, 400);
  t.equal((await patchTask(app, alice, id, { watch: [] })).statusCode, 200);
});
