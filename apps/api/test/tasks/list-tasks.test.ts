import { tasks } from '@carillon/db';

import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { countStatements } from '../support/database.ts';
import { type Person, signUp } from '../support/people.ts';
import { postTask, readTask, TASK } from '../support/tasks.ts';

const { app, ctx } = await testContext(t);
const list = ({ headers }: Person, query: Record<string, string | number> = {}) =>
  app.inject({ url: '/api/tasks', query: query as Record<string, string>, headers });
const namesOf = async (person: Person, query: Record<string, string | number> = {}) =>
  (await list(person, query)).json().tasks.map(({ name }: { name: string }) => name);

/** Inserts tasks directly: more than a plan allows, with any status. */
async function insert(
  { id: userId }: Person,
  names: readonly string[],
  values: Partial<typeof tasks.$inferInsert> = {},
) {
  const row = { ...TASK, userId, scheduledFor: START, recurrence: 'daily', aiModel: 'offline' } as const;
  const rest = { maxTokens: 1, temperature: 0, createdAt: START, updatedAt: START, ...values };
  await ctx.db.insert(tasks).values(names.map((name) => ({ ...row, ...rest, name })));
}

t.test('The list has the owner’s tasks as `GET /api/tasks/:id` shows them, newest first', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const first = await postTask(app, alice, { name: 'First' });
  await postTask(app, bob);
  const second = await postTask(app, alice, { name: 'Second' });
  const answer = await list(alice);
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), {
    success: true,
    tasks: [await readTask(app, alice, second), await readTask(app, alice, first)],
    pagination: { total: 2, limit: 20, offset: 0, hasMore: false, nextCursor: null },
  });
});

t.test('A user without tasks gets an empty page', async (t) => {
  t.same((await list(await signUp(app))).json(), {
    success: true,
    tasks: [],
    pagination: { total: 0, limit: 20, offset: 0, hasMore: false, nextCursor: null },
  });
});

t.test('`status` filters the list', async (t) => {
  const alice = await signUp(app);
  for (const status of ['active', 'paused', 'completed', 'failed'] as const) await insert(alice, [status], { status });
  for (const status of ['active', 'paused', 'completed', 'failed']) {
    t.same(await namesOf(alice, { status }), [status]);
    t.equal((await list(alice, { status })).json().pagination.total, 1);
  }
});

t.test('`search` matches a part of the name in any letter case, and treats wildcards literally', async (t) => {
  const alice = await signUp(app);
  await insert(alice, [
    '100% sure',
    '100 percent',
    'snake_case',
    'snakeXcase',
    'back\\slash',
    'ÄRGER im Büro',
    '🔔 bell',
    "it's",
  ]);
  for (const [search, names] of [
    ['SNAKE', ['snakeXcase', 'snake_case']],
    ['ärger IM bÜ', ['ÄRGER im Büro']],
    ['100%', ['100% sure']],
    ['%', ['100% sure']],
    ['e_c', ['snake_case']],
    ['_', ['snake_case']],
    ['\\', ['back\\slash']],
    ['k\\s', ['back\\slash']],
    ['\\%', []],
    ['🔔', ['🔔 bell']],
    ["'", ["it's"]],
    ['morning', []],
  ] as const) {
    t.same(await namesOf(alice, { search }), names, search);
  }
  t.equal((await namesOf(alice, { search: '' })).length, 8, 'an empty search finds all');
  await insert(alice, ['100% paused'], { status: 'paused' });
  t.same(await namesOf(alice, { search: '100%', status: 'paused' }), ['100% paused'], 'both filters apply');
});

t.test('Pages by offset have the total', async (t) => {
  const alice = await signUp(app);
  await insert(
    alice,
    Array.from({ length: 7 }, (_, n) => `Task ${n}`),
  );
  const pageAt = async (query: Record<string, number>) => {
    const { tasks, pagination } = (await list(alice, query)).json();
    return [tasks.map(({ name }: { name: string }) => Number(name.slice(5))), { ...pagination, nextCursor: undefined }];
  };
  const total = 7;
  t.same(await pageAt({ limit: 3 }), [[6, 5, 4], { total, limit: 3, offset: 0, hasMore: true }]);
  t.same(await pageAt({ limit: 3, offset: 3 }), [[3, 2, 1], { total, limit: 3, offset: 3, hasMore: true }]);
  t.same(await pageAt({ limit: 3, offset: 6 }), [[0], { total, limit: 3, offset: 6, hasMore: false }]);
  t.same(await pageAt({ limit: 7 }), [[6, 5, 4, 3, 2, 1, 0], { total, limit: 7, offset: 0, hasMore: false }]);
  t.same(await pageAt({ offset: 7 }), [[], { total, limit: 20, offset: 7, hasMore: false }]);
  t.same(await pageAt({ offset: 2_147_483_647 }), [[], { total, limit: 20, offset: 2_147_483_647, hasMore: false }]);
});

t.test('Pages by cursor visit each task once, while new ones are created', async (t) => {
  const alice = await signUp(app);
  await insert(
    alice,
    Array.from({ length: 250 }, (_, n) => `Task ${n}`),
  );
  const seen: string[] = [];
  let query: Record<string, string | number> = { limit: 30 };
  for (;;) {
    const { tasks, pagination } = (await list(alice, query)).json();
    seen.push(...tasks.map(({ name }: { name: string }) => name));
    t.equal(pagination.total, seen.length <= 30 ? 250 : null);
    t.equal(pagination.hasMore, pagination.nextCursor !== null);
    if (!pagination.hasMore) break;
    await insert(alice, ['New', 'New', 'New']);
    query = { limit: 30, cursor: pagination.nextCursor };
  }
  t.same(
    seen,
    Array.from({ length: 250 }, (_, n) => `Task ${249 - n}`),
  );
});

t.test('A cursor keeps the filter, and shows no tasks of a stranger', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  await insert(alice, ['a1', 'b1', 'a2', 'b2', 'a3']);
  await insert(bob, ['a4']);
  const { nextCursor } = (await list(alice, { search: 'a', limit: 1 })).json().pagination;
  t.same(await namesOf(alice, { search: 'a', cursor: nextCursor, offset: 5 }), ['a2', 'a1'], 'the offset is ignored');
  t.same(await namesOf(bob, { cursor: nextCursor }), []);
});

t.test('A page without a filter takes one statement beside those of its session, its total included', async (t) => {
  const alice = await signUp(app);
  await insert(alice, ['One', 'Two']);
  const { nextCursor } = (await list(alice, { limit: 1 })).json().pagination;
  const statements = countStatements(ctx.db);
  t.match((await list(alice, { limit: 1 })).json().pagination, { total: 2 });
  t.match((await list(alice, { limit: 1, cursor: nextCursor })).json().pagination, { total: null });
  t.equal(statements(), 6);
});

t.test('An invalid query is rejected by field', async (t) => {
  const alice = await signUp(app);
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const ofList = ['is not a cursor of this list'];
  const cases: [Record<string, string>, Record<string, (string | RegExp)[]>][] = [
    [{ status: 'running' }, { status: ['must be one of active, paused, completed, failed'] }],
    [{ status: '' }, { status: [/one of/] }],
    [{ limit: '0' }, { limit: ['must be at least 1'] }],
    [{ limit: 'ten' }, { limit: ['must be an integer'] }],
    [{ limit: '' }, { limit: ['must be an integer'] }],
    [{ offset: '-1' }, { offset: ['must be at least 0'] }],
    [{ offset: '2147483648' }, { offset: ['must be at most 2147483647'] }],
    [{ offset: '1.5' }, { offset: ['must be an integer'] }],
    [{ search: 's'.repeat(101) }, { search: ['must be at most 100 characters'] }],
    [{ search: 'a\0b' }, { search: ['must not contain the NUL character'] }],
    [{ cursor: '' }, { cursor: ['must not be empty', 'has the wrong form'] }],
    [{ cursor: '%%%' }, { cursor: ['has the wrong form'] }],
    [{ cursor: 'nonsense' }, { cursor: ofList }],
    [{ cursor: 'x'.repeat(201) }, { cursor: ['must be at most 200 characters'] }],
    ...['0', '-1', '1.5', '2147483648', '1e3', '0x10', ' 7', '07', '', START.toISOString(), '{"id":1}'].map(
      (text): [Record<string, string>, Record<string, string[]>] => [
        { cursor: encode(text) || '-' },
        { cursor: ofList },
      ],
    ),
  ];
  for (const [query, details] of cases) {
    const answer = await list(alice, query);
    t.equal(answer.statusCode, 400, JSON.stringify(query));
    t.match(answer.json(), { success: false, error: 'Validation error', details });
    t.same(Object.keys(answer.json().details), Object.keys(details));
  }
  t.equal(
    (await list(alice, { limit: '100', search: '🔔'.repeat(100), page: '7' })).statusCode,
    200,
    'unknown ones are ignored',
  );
});

t.test('Listing tasks needs a session', async (t) => {
  await assertNeedsSession(t, app, { url: '/api/tasks' });
});
