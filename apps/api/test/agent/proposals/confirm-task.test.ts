import { apiKeys, connect, idempotencyKeys, taskProposals, tasks, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { AppError } from '../../../src/errors.ts';
import { buildWebActions } from '../../../src/handlers/actions/web/build.ts';
import { confirmTask } from '../../../src/product/agent/proposals/confirm.ts';
import { deleteAccount } from '../../../src/product/users/admin/delete.ts';
import { assertNeedsSession } from '../../support/access.ts';
import { START, testContext } from '../../support/context.ts';
import { countStatements, countStatementsInTransactions, recordDeadlocks } from '../../support/database.ts';
import { buildCaller } from '../../support/engine.ts';
import { createKey } from '../../support/keys.ts';
import { type Person, signUpAda, signUpAlice, signUpBob } from '../../support/people.ts';
import { insertProposal } from '../../support/proposals.ts';
import { insertTasks } from '../../support/task-rows.ts';
import { postTask, TASK } from '../../support/tasks.ts';

const { app, ctx, clock, databaseUrl } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1000' } });
const ada = await signUpAda(app);
const bob = await signUpBob(app);
const others = connect(databaseUrl, { max: 5 });
t.teardown(() => others.close());
let alice: Person;

t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(tasks);
  await ctx.db.delete(taskProposals);
  await ctx.db.delete(users).where(eq(users.name, 'Alice'));
  alice = await signUpAlice(app);
});

const url = '/api/agent/confirm-task';
const confirm = (proposalId: string, changes?: object, { headers }: Pick<Person, 'headers'> = alice) =>
  app.inject({ method: 'POST', url, headers, payload: { proposalId, ...(changes && { changes }) } });
const readTask = async (id: number) =>
  (await app.inject({ url: `/api/tasks/${id}`, headers: alice.headers })).json().task;
const readProposal = async (id: string) =>
  (await ctx.db.select().from(taskProposals).where(eq(taskProposals.id, id)))[0];

t.test('A confirmed proposal is a task like one that create-task has made', async (t) => {
  const id = await insertProposal(ctx, alice);
  const answer = await confirm(id);
  t.equal(answer.statusCode, 201);
  const { taskId } = answer.json();
  t.same(answer.json(), { success: true, taskId });
  t.equal(answer.headers.location, `/api/tasks/${taskId}`);
  const { id: _id, externalId: _name, ...created } = await readTask(taskId);
  const { id: _otherId, externalId: _otherName, ...same } = await readTask(await postTask(app, alice));
  t.same(created, same);
  t.match(await readProposal(id), { confirmedAt: START, taskId });
  const { events } = (await app.inject({ url: '/api/events?after=0', headers: alice.headers })).json();
  t.match(events, [{ event: 'task.created', data: { task: { id: taskId } } }, { event: 'task.created' }]);
});

t.test('Changes replace fields of the proposal; null clears one', async (t) => {
  const id = await insertProposal(ctx, alice, { ...TASK, recurrencePattern: '0 9 * * 1', tools: [] });
  const changes = { name: 'Other news', recurrencePattern: null, status: 'paused', maxRetries: 0 };
  const { taskId } = (await confirm(id, changes)).json();
  t.match(await readTask(taskId), { ...changes, prompt: TASK.prompt, recurrence: 'daily' });
});

t.test('A second confirmation is 409 with the task, also if that is deleted', async (t) => {
  const id = await insertProposal(ctx, alice);
  const { taskId } = (await confirm(id)).json();
  const again = await confirm(id, { name: 'Another one' });
  t.equal(again.statusCode, 409);
  t.match(again.json(), { success: false, details: { taskId } });
  await ctx.db.delete(tasks);
  t.match((await confirm(id)).json(), { details: { taskId: null } });
  t.equal(await ctx.db.$count(tasks), 0);
});

t.test("Expired, strangers' and unknown proposals are 404", async (t) => {
  const id = await insertProposal(ctx, alice);
  const stranger = await confirm(id, undefined, bob);
  t.equal(stranger.statusCode, 404);
  const unknown = await confirm('00000000-0000-4000-8000-000000000000');
  t.same([unknown.statusCode, unknown.json()], [404, stranger.json()]);
  clock.advance(24 * 60 * 60_000);
  t.same((await confirm(id, { scheduledFor: '2027-01-01T00:00:00Z' })).json(), unknown.json());
  clock.set(new Date(START.getTime() + 24 * 60 * 60_000 - 1));
  t.equal((await confirm(id, { scheduledFor: '2027-01-01T00:00:00Z' })).statusCode, 201, 'the last instant');
});

t.test('What cannot be a task is 400 and leaves the proposal as it is', async (t) => {
  const id = await insertProposal(ctx, alice);
  for (const [changes, field] of [
    [{ prompt: 'short' }, 'changes.prompt'],
    [{ colour: 'red' }, 'changes.colour'],
    [[], 'changes'],
    [{ timezone: 'Moon/Titan' }, 'changes.timezone'],
    [{ scheduledFor: '2026-11-20T09:59:59Z' }, 'scheduledFor'],
    [{ recurrencePattern: '0 9 30 2 *' }, 'recurrencePattern'],
    [{ channels: ['00000000-0000-4000-8000-000000000000'] }, 'channels'],
    [{ outputSchema: { type: 'array' } }, 'outputSchema.type'],
  ] as const) {
    const refused = await confirm(id, changes);
    t.same([refused.statusCode, Object.keys(refused.json().details)], [400, [field]], refused.body);
  }
  const invalid = await insertProposal(ctx, alice, { ...TASK, name: 'x' });
  t.same(Object.keys((await confirm(invalid)).json().details), ['name'], 'a draft of another version is checked');
  t.equal((await confirm('x')).statusCode, 400);
  t.equal(await ctx.db.$count(tasks), 0);
  t.equal((await confirm(id)).statusCode, 201);
});

t.test('A schedule that has passed meanwhile is 400, until it is changed', async (t) => {
  const id = await insertProposal(ctx, alice);
  clock.set(TASK.scheduledFor);
  const passed = await confirm(id);
  t.equal(passed.statusCode, 400);
  t.same(passed.json().details, {
    scheduledFor: ['has passed since the task was proposed: send a new one in `changes`'],
  });
  t.equal((await confirm(id, { scheduledFor: '2026-11-20T11:00:00.001Z' })).statusCode, 201);
});

t.test('Over the quota it is 402, and the proposal can be confirmed later', async (t) => {
  const id = await insertProposal(ctx, alice);
  const rows = await insertTasks(ctx, Array(10).fill(alice.id));
  const refused = await confirm(id);
  t.equal(refused.statusCode, 402);
  t.match(refused.json(), { details: { resource: 'activeTasks' } });
  t.match(await readProposal(id), { confirmedAt: null });
  await ctx.db.delete(tasks).where(eq(tasks.id, rows[0] as number));
  t.equal((await confirm(id)).statusCode, 201);
});

t.test('Of 40 confirmations at once over two pools one creates the task, and the others get its id', async (t) => {
  const deadlocks = recordDeadlocks(ctx);
  const id = await insertProposal(ctx, alice);
  const caller = buildCaller(alice.id);
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      confirmTask(n % 2 ? { ...ctx, db: others.db } : ctx, caller, { proposalId: id }).then(
        (taskId) => ({ created: taskId }),
        (error: unknown) => {
          if (!(error instanceof AppError)) throw error;
          return { kind: error.kind, taskId: error.details?.taskId };
        },
      ),
    ),
  );
  const [task] = await ctx.db.select({ id: tasks.id }).from(tasks);
  t.equal(await ctx.db.$count(tasks), 1);
  t.equal(outcomes.filter((one) => 'created' in one && one.created === task?.id).length, 1);
  t.equal(outcomes.filter((one) => 'kind' in one && one.kind === 'conflict' && one.taskId === task?.id).length, 39);
  t.same(deadlocks, []);
});

t.test('Of 20 proposals confirmed at once as many are tasks as the quota has left', async (t) => {
  const deadlocks = recordDeadlocks(ctx);
  await insertTasks(ctx, Array(7).fill(alice.id));
  const ids = await Promise.all(Array.from({ length: 20 }, () => insertProposal(ctx, alice)));
  const statuses = (await Promise.all(ids.map((id) => confirm(id)))).map(({ statusCode }) => statusCode);
  t.equal(statuses.filter((status) => status === 201).length, 3);
  t.equal(statuses.filter((status) => status === 402).length, 17);
  t.equal(await ctx.db.$count(tasks), 10);
  t.same(deadlocks, []);
});

t.test('An account that is deleted at the same moment leaves neither task nor proposal', async (t) => {
  const deadlocks = recordDeadlocks(ctx);
  const admin = buildCaller(ada.id);
  for (let round = 0; round < 8; round++) {
    const caller = buildCaller(alice.id);
    const ids = await Promise.all(Array.from({ length: 5 }, () => insertProposal(ctx, alice)));
    const isFirst = round % 2 === 0;
    const begun = isFirst ? deleteAccount(ctx, admin, alice.id, { email: alice.email }) : null;
    const work = ids.map((proposalId) =>
      confirmTask({ ...ctx, db: others.db }, caller, { proposalId }).then(
        () => 'created',
        (error: unknown) => (error instanceof AppError ? error.kind : String(error)),
      ),
    );
    const deleted = begun ?? deleteAccount(ctx, admin, alice.id, { email: alice.email });
    const [outcomes] = await Promise.all([Promise.all(work), deleted]);
    t.ok(
      outcomes.every((outcome) => ['created', 'not_found', 'unauthenticated'].includes(outcome)),
      outcomes.join(),
    );
    t.same([await ctx.db.$count(tasks), await ctx.db.$count(taskProposals)], [0, 0]);
    alice = await signUpAlice(app);
  }
  t.same(deadlocks, []);
});

t.test('A repeated Idempotency-Key gets the first answer, not 409', async (t) => {
  await ctx.db.delete(idempotencyKeys);
  const id = await insertProposal(ctx, alice);
  const withKey = () =>
    app.inject({
      method: 'POST',
      url,
      headers: { ...alice.headers, 'idempotency-key': 'once' },
      payload: { proposalId: id },
    });
  const first = await withKey();
  const again = await withKey();
  t.same([first.statusCode, again.statusCode, again.body], [201, 201, first.body]);
  t.equal(again.headers['idempotent-replayed'], 'true');
});

t.test('A confirmation costs two statements more than create-task', async (t) => {
  const measure = async (work: () => Promise<unknown>) => {
    const counts = [countStatements(ctx.db), countStatementsInTransactions(ctx.db)];
    await work();
    return counts.reduce((sum, count) => sum + count(), 0);
  };
  await postTask(app, alice);
  const ids = [await insertProposal(ctx, alice), await insertProposal(ctx, alice)];
  await confirm(ids[0] as string);
  const created = await measure(() => postTask(app, alice));
  t.equal(await measure(() => confirm(ids[1] as string)), created + 2);
});

t.test('A confirmation needs a session, or a key with tasks:write', async (t) => {
  const id = await insertProposal(ctx, alice);
  await assertNeedsSession(t, app, { method: 'POST', url, payload: { proposalId: id } });
  for (const [scopes, status] of [
    [['agent:run', 'tasks:read'], 403],
    [['tasks:write'], 201],
  ] as const) {
    const { secret } = await createKey(app, alice, { scopes: [...scopes] });
    const headers = { authorization: `Bearer ${secret}` };
    t.equal((await confirm(id, undefined, { headers })).statusCode, status);
  }
  await ctx.db.delete(apiKeys);
});

t.test('Pages read and confirm a proposal, and no other user does', async (t) => {
  const actions = buildWebActions(ctx);
  const id = await insertProposal(ctx, alice);
  const read = async ({ token }: Person = alice) => await actions.getProposal(token, { id });
  t.match(await read(), {
    success: true,
    data: {
      id,
      task: TASK,
      occurrences: [{ at: TASK.scheduledFor, local: '2026-11-20T11:00:00+00:00[UTC]' }, {}, {}, {}, {}],
      isConfirmed: false,
      taskId: null,
      expiresAt: '2026-11-21T10:00:00.000Z',
    },
  });
  t.match(await read(bob), { success: false });
  t.match(await actions.confirmProposal(bob.token, { id }), { success: false, code: 'NOT_FOUND' });
  const invalid = await actions.confirmProposal(alice.token, { id, changes: { prompt: 'short' } });
  t.match(invalid, { success: false, details: { 'changes.prompt': [String] } });
  const confirmed = await actions.confirmProposal(alice.token, { id, changes: { name: 'Of the page' } });
  t.match(confirmed, { success: true, data: { taskId: Number } });
  const { taskId } = (confirmed as { data: { taskId: number } }).data;
  t.match(await read(), { success: true, data: { isConfirmed: true, taskId } });
  t.match(await actions.confirmProposal(alice.token, { id }), { success: false, code: 'CONFLICT' });

  const passed = await insertProposal(ctx, alice, { ...TASK, recurrence: 'once' });
  clock.set(TASK.scheduledFor);
  t.match(await actions.getProposal(alice.token, { id: passed }), { success: true, data: { occurrences: [] } });
  clock.advance(24 * 60 * 60_000);
  t.match(await actions.getProposal(alice.token, { id: passed }), { success: false, code: 'NOT_FOUND' });
});
