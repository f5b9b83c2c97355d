import { executions } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp, signUpAda } from '../support/people.ts';
import { countEndedRuns } from '../support/task-rows.ts';
import { postTask, runDue } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));
const list = ({ headers }: Person, query: Record<string, string> = {}) =>
  app.inject({ url: '/api/executions', query, headers });
const idsOf = async (person: Person, query: Record<string, string> = {}) =>
  (await list(person, query)).json().executions.map(({ id }: { id: number }) => id);

const STATES = {
  pending: { status: 'pending', queuedAt: START },
  running: { status: 'running', claimToken: crypto.randomUUID(), leaseUntil: START, startedAt: START },
  completed: { status: 'completed', startedAt: START, completedAt: START, result: 'Done.' },
  failed: { status: 'failed', completedAt: START, errorCode: 'TIMEOUT', error: 'Too slow.' },
} as const;

/** Inserts executions created at these instants; returns their ids. */
async function insert(
  { id: userId }: Person,
  taskId: number,
  createdAt: readonly (Date | string)[],
  state: keyof typeof STATES = 'completed',
) {
  const row = { userId, taskId, trigger: 'manual' as const, runAt: START, ...STATES[state] };
  const made = await ctx.db
    .insert(executions)
    .values(createdAt.map((at) => ({ ...row, createdAt: new Date(at) })))
    .returning({ id: executions.id });
  await countEndedRuns(ctx);
  return made.map(({ id }) => id);
}

t.test('The owner sees their executions as each is shown alone, newest first', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  t.same((await list(alice)).json(), {
    success: true,
    executions: [],
    pagination: { total: 0, limit: 20, offset: 0, hasMore: false, nextCursor: null },
  });
  const execute = () => app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers: alice.headers });
  const first = (await execute()).json().executionId;
  await runDue(ctx);
  const second = (await execute()).json().executionId;
  const alone = async (one: number) => {
    const shown = await app.inject({ url: `/api/executions/${one}`, headers: alice.headers });
    const { request: _, ...execution } = shown.json().execution;
    return execution;
  };
  const answer = await list(alice);
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), {
    success: true,
    executions: [await alone(second), await alone(first)],
    pagination: { total: 2, limit: 20, offset: 0, hasMore: false, nextCursor: null },
  });
});

t.test('Task and status filter the list', async (t) => {
  const alice = await signUp(app);
  const [one, two] = [await postTask(app, alice), await postTask(app, alice)];
  const ids: Record<string, number[]> = {};
  for (const state of ['pending', 'running', 'completed', 'failed'] as const)
    ids[state] = await insert(alice, one, [START], state);
  const others = await insert(alice, two, [START, START], 'failed');
  for (const status of ['pending', 'running', 'completed']) t.same(await idsOf(alice, { status }), ids[status]);
  t.same(await idsOf(alice, { status: 'failed' }), [...others.toReversed(), ...(ids.failed ?? [])]);
  t.same(await idsOf(alice, { status: 'failed', taskId: String(one) }), ids.failed);
  t.same(await idsOf(alice, { taskId: String(two) }), others.toReversed());
  t.equal((await list(alice, { taskId: String(two) })).json().pagination.total, 2);
});

t.test("A stranger's or an unknown task has no executions, for an admin neither", async (t) => {
  const [alice, bob, ada] = [await signUp(app), await signUp(app, { name: 'Bob' }), await signUpAda(app)];
  const taskId = await postTask(app, alice);
  await insert(alice, taskId, [START]);
  for (const [person, id] of [
    [bob, taskId],
    [ada, taskId],
    [alice, 2_147_483_647],
  ] as const) {
    const answer = await list(person, { taskId: String(id) });
    t.equal(answer.statusCode, 200);
    t.match(answer.json(), { executions: [], pagination: { total: 0, hasMore: false } });
  }
  t.same(await idsOf(bob), []);
});

t.test('Dates filter by creation: a day is a whole UTC day, an instant is exact', async (t) => {
  const alice = await signUp(app);
  const days = [
    '2026-11-18T23:59:59.999Z',
    '2026-11-19T00:00:00Z',
    '2026-11-19T23:59:59.999Z',
    '2026-11-20T00:00:00Z',
    '2026-11-21T12:00:00Z',
  ];
  const ids = await insert(alice, await postTask(app, alice), days);
  const newest = ids.toReversed();
  for (const [query, picked] of [
    [{ startDate: '2026-11-19' }, newest.slice(0, 4)],
    [{ endDate: '2026-11-19' }, newest.slice(2)],
    [{ startDate: '2026-11-19', endDate: '2026-11-19' }, newest.slice(2, 4)],
    [{ startDate: '2026-11-20T00:00:00Z' }, newest.slice(0, 2)],
    [{ startDate: '2026-11-20T00:00:00.001Z' }, newest.slice(0, 1)],
    [{ endDate: '2026-11-20T00:00:00Z' }, newest.slice(1)],
    [{ endDate: '2026-11-19T23:59:59.999Z' }, newest.slice(2)],
    [{ endDate: '2026-11-20T02:00:00+02:00' }, newest.slice(1)],
    [{ startDate: '2026-11-21', endDate: '2026-11-19' }, []],
    [{ startDate: '1970-01-01', endDate: '9999-12-31' }, newest],
    [{ startDate: '9999-12-31T23:59:59.999Z' }, []],
  ] as const) {
    t.same(await idsOf(alice, query), picked, JSON.stringify(query));
  }
  t.equal((await list(alice, { endDate: '2026-11-19', limit: '1' })).json().pagination.total, 3);
});

t.test('Paging by cursor visits each execution once while new ones are created', async (t) => {
  const alice = await signUp(app);
  const taskId = await postTask(app, alice);
  const ids: number[] = [];
  for (let n = 0; n < 5; n++) {
    ids.push(...(await insert(alice, taskId, Array(50).fill(START))));
    await insert(alice, taskId, Array(10).fill(START), 'failed');
  }
  const seen: number[] = [];
  let query: Record<string, string> = { limit: '40', status: 'completed' };
  for (;;) {
    const { executions: page, pagination } = (await list(alice, query)).json();
    seen.push(...page.map(({ id }: { id: number }) => id));
    t.equal(pagination.total, seen.length <= 40 ? 250 : null);
    t.equal(pagination.hasMore, pagination.nextCursor !== null);
    if (!pagination.hasMore) break;
    await insert(alice, taskId, [START]);
    query = { limit: '40', status: 'completed', cursor: pagination.nextCursor };
  }
  t.same(seen, ids.toReversed());
});

t.test('Pages by offset show the total', async (t) => {
  const alice = await signUp(app);
  const ids = (await insert(alice, await postTask(app, alice), Array(5).fill(START))).toReversed();
  for (const [offset, page, hasMore] of [
    [0, ids.slice(0, 2), true],
    [2, ids.slice(2, 4), true],
    [4, ids.slice(4), false],
    [5, [], false],
  ] as const) {
    const query = { limit: '2', offset: String(offset) };
    t.same(await idsOf(alice, query), page);
    t.match((await list(alice, query)).json().pagination, { total: 5, limit: 2, offset, hasMore });
  }
});

t.test('An invalid query is refused by field', async (t) => {
  const alice = await signUp(app);
  for (const query of [
    ...['0', '-1', '2147483648', '1.5', 'abc', ''].map((taskId) => ({ taskId })),
    ...['COMPLETED', 'done', ''].map((status) => ({ status })),
    ...['yesterday', '2026-02-30', '2026-11-20T10:00:00', '10000-01-01', '+010000-01-01T00:00:00.000Z', ''].flatMap(
      (date) => [{ startDate: date }, { endDate: date }],
    ),
    ...['0', '1.5', 'x'].map((limit) => ({ limit })),
    ...['-1', '2147483648'].map((offset) => ({ offset })),
    ...['nonsense', '', 'MA', 'LTE', 'x'.repeat(201)].map((cursor) => ({ cursor })),
  ] as Record<string, string>[]) {
    const answer = await list(alice, query);
    t.equal(answer.statusCode, 400, JSON.stringify(query));
    t.match(answer.json(), { success: false, error: 'Validation error' });
    t.same(Object.keys(answer.json().details), Object.keys(query));
  }
  t.equal(await ctx.db.$count(executions, eq(executions.userId, alice.id)), 0);
});

t.test('Listing executions requires a session', async (t) => {
  await assertNeedsSession(t, app, { url: '/api/executions' });
});
