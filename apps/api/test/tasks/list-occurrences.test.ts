import { occurrences, settings, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import { INVALID_IDS, postTask, runDue } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));
const list = ({ headers }: Person, id: number | string, query: Record<string, string> = {}) =>
  app.inject({ url: `/api/tasks/${id}/occurrences`, query, headers });

t.test('Each planned instant has its fate and its run, newest first', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { recurrencePattern: '0 * * * *', aiModel: 'offline' });
  t.same((await list(alice, id)).json(), {
    success: true,
    occurrences: [],
    pagination: { limit: 20, nextCursor: null },
  });

  clock.set('2026-11-20T11:00:01.500Z');
  await runDue(ctx);
  clock.set('2026-11-20T11:59:00Z');
  await ctx.db.update(settings).set({ maintenanceMode: true });
  t.teardown(() => ctx.db.update(settings).set({ maintenanceMode: false }));
  clock.set('2026-11-20T13:30:00Z');
  await runDue(ctx);
  await ctx.db.update(settings).set({ maintenanceMode: false });
  await runDue(ctx);
  await app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers: alice.headers });
  clock.set('2026-11-20T14:00:00Z');
  await runDue(ctx);

  const answer = await list(alice, id);
  t.equal(answer.statusCode, 200);
  const runs = (
    await app.inject({ url: '/api/executions', query: { taskId: String(id) }, headers: alice.headers })
  ).json();
  const runOf = (plannedFor: string) =>
    runs.executions.find(
      (run: { plannedFor: string; trigger: string }) => run.plannedFor === plannedFor && run.trigger === 'schedule',
    ).id;
  const none = { executionId: null, startedAt: null, latenessMs: null };
  t.same(answer.json().occurrences, [
    {
      plannedFor: '2026-11-20T14:00:00.000Z',
      fate: 'skipped_overlap',
      recordedAt: '2026-11-20T14:00:00.000Z',
      ...none,
    },
    {
      plannedFor: '2026-11-20T13:00:00.000Z',
      fate: 'late',
      recordedAt: '2026-11-20T13:30:00.000Z',
      executionId: runOf('2026-11-20T13:00:00.000Z'),
      startedAt: '2026-11-20T13:30:00.000Z',
      latenessMs: 1_800_000,
    },
    { plannedFor: '2026-11-20T12:00:00.000Z', fate: 'missed', recordedAt: '2026-11-20T13:30:00.000Z', ...none },
    {
      plannedFor: '2026-11-20T11:00:00.000Z',
      fate: 'ran',
      recordedAt: '2026-11-20T11:00:01.500Z',
      executionId: runOf('2026-11-20T11:00:00.000Z'),
      startedAt: '2026-11-20T11:00:01.500Z',
      latenessMs: 1500,
    },
  ]);
});

t.test('The lateness of more than a month is in milliseconds', async (t) => {
  const alice = await signUp(app);
  await ctx.db.update(users).set({ plan: 'pro' }).where(eq(users.id, alice.id));
  const id = await postTask(app, alice, { recurrence: 'once', aiModel: 'offline' });
  clock.set('2027-11-20T11:00:00Z');
  await runDue(ctx);
  clock.set(START);
  const [only] = (await list(alice, id)).json().occurrences;
  t.match(only, { fate: 'late', latenessMs: 365 * 86_400_000 });
});

t.test('Pages by cursor visit each occurrence once, while new ones are added', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  const minute = (n: number) => new Date(START.getTime() + n * 60_000);
  const row = (n: number) => ({ taskId: id, plannedFor: minute(n), fate: 'ran' as const, recordedAt: minute(n) });
  await ctx.db.insert(occurrences).values(Array.from({ length: 250 }, (_, n) => row(n)));
  const seen: string[] = [];
  let query: Record<string, string> = { limit: '100' };
  for (let newer = 250; ; newer++) {
    const { occurrences: page, pagination } = (await list(alice, id, query)).json();
    t.equal(pagination.limit, 100);
    seen.push(...page.map(({ plannedFor }: { plannedFor: string }) => plannedFor));
    if (pagination.nextCursor === null) break;
    await ctx.db.insert(occurrences).values(row(newer));
    query = { limit: '100', cursor: pagination.nextCursor };
  }
  t.same(
    seen,
    Array.from({ length: 250 }, (_, n) => minute(249 - n).toISOString()),
  );
});

t.test('An invalid query is rejected by field', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const ofList = ['is not a cursor of this list'];
  const beyond = [
    '+275760-09-13T00:00:00.000Z',
    '+010000-01-01T00:00:00.000Z',
    '-000001-01-01T00:00:00.000Z',
    '0000-01-01T00:00:00.000Z',
  ];
  const odd = [
    '2026-11-20',
    '2026-11-20T10:00:00Z',
    '2026-11-20T11:00:00.000+01:00',
    '7',
    'null',
    '1969-12-31T23:59:59.999Z',
  ];
  for (const cursor of [...[...beyond, ...odd].map(encode), 'nonsense', `${encode(START.toISOString())}A`]) {
    const answer = await list(alice, id, { cursor });
    t.equal(answer.statusCode, 400, cursor);
    t.same(answer.json().details, { cursor: ofList });
  }
  for (const limit of ['0', '1.5', 'x'])
    t.same(Object.keys((await list(alice, id, { limit })).json().details), ['limit']);
  t.equal((await list(alice, id, { cursor: encode('9999-12-31T23:59:59.999Z') })).statusCode, 200);
});

t.test('A stranger’s and an unknown task are not found', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const id = await postTask(app, alice);
  const answer = await list(bob, id);
  t.equal(answer.statusCode, 404);
  t.same(answer.json(), { success: false, error: 'Task not found' });
  for (const unknown of [...INVALID_IDS, '2147483647']) t.equal((await list(alice, unknown)).statusCode, 404, unknown);
});

t.test('Listing occurrences needs a session', async (t) => {
  const id = await postTask(app, await signUp(app));
  await assertNeedsSession(t, app, { url: `/api/tasks/${id}/occurrences` });
});
