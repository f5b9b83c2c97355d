import { executions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { completeExecutions } from '../../src/product/executions/pipeline/complete.ts';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { inTransaction } from '../../src/transaction.ts';
import { START, testContext } from '../support/context.ts';
import { findInconsistencies } from '../support/inconsistencies.ts';
import { type Person, signUpAda, signUpAlice, signUpBob } from '../support/people.ts';
import { insertTask, readLedger, readRun, readRuns, readTaskRow, readUsage } from '../support/task-rows.ts';
import { BUSY_OUTCOME, createFixedAi, postTask, runDue } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
let ada: Person;
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  ada = await signUpAda(app);
  alice = await signUpAlice(app);
});
t.afterEach(async () => {
  const faults = await findInconsistencies(ctx);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
});

const HOUR = 3_600_000;
async function setActive(isActive: boolean, { id }: Person = alice) {
  const request = { method: 'PATCH', url: `/api/admin/users/${id}`, headers: ada.headers } as const;
  const answer = await app.inject({ ...request, payload: { isActive } });
  if (answer.statusCode !== 200) throw new Error(answer.body);
}
const execute = (taskId: number) =>
  app.inject({ method: 'POST', url: `/api/tasks/${taskId}/execute`, headers: alice.headers });
const offline = { aiModel: 'offline' };

t.test('The tasks of a deactivated account are suspended, and those of others continue', async (t) => {
  const bob = await signUpBob(app);
  const [hers, his] = [await postTask(app, alice, offline), await postTask(app, bob, offline)];
  await setActive(false);
  t.match(await readTaskRow(ctx, hers), { status: 'active', nextExecutionAt: null });
  clock.advance(2 * HOUR);
  await runDue(ctx);
  t.same(await readRuns(ctx, hers), []);
  t.equal((await readRun(ctx, his)).status, 'completed');
});

t.test(
  'Activation resumes tasks with the next future run, and does not make up for what was due meanwhile',
  async (t) => {
    const id = await postTask(app, alice, offline);
    await setActive(false);
    clock.advance(50 * HOUR);
    await setActive(true);
    t.same((await readTaskRow(ctx, id)).nextExecutionAt, new Date('2026-11-23T11:00:00Z'));
    await runDue(ctx);
    t.same(await readLedger(ctx, id), []);
    clock.advance(24 * HOUR);
    await runDue(ctx);
    t.same(await readLedger(ctx, id), [['2026-11-23T11:00:00.000Z', 'late']]);
  },
);

t.test('A `once` task that was due meanwhile runs late, and one in the future on time', async (t) => {
  const once = { ...offline, recurrence: 'once' };
  const id = await postTask(app, alice, once);
  const ahead = await postTask(app, alice, { ...once, scheduledFor: '2026-12-01T00:00:00.000Z' });
  clock.advance(2 * HOUR);
  await setActive(false);
  clock.advance(HOUR);
  await setActive(true);
  t.same((await readTaskRow(ctx, ahead)).nextExecutionAt, new Date('2026-12-01T00:00:00Z'));
  await runDue(ctx);
  t.equal((await readTaskRow(ctx, id)).status, 'completed');
  t.same(await readLedger(ctx, id), [['2026-11-20T11:00:00.000Z', 'late']]);
});

t.test('Paused and ended tasks stay as they are', async (t) => {
  const paused = await insertTask(ctx, alice.id, { status: 'paused', nextExecutionAt: null });
  const failed = await insertTask(ctx, alice.id, { status: 'failed', nextExecutionAt: null });
  await setActive(false);
  await setActive(true);
  t.match(await readTaskRow(ctx, paused), { status: 'paused', nextExecutionAt: null });
  t.match(await readTaskRow(ctx, failed), { status: 'failed', nextExecutionAt: null });
});

t.test('An occurrence that was due but not enqueued is missed', async (t) => {
  const id = await insertTask(ctx, alice.id);
  await setActive(false);
  t.same(await readLedger(ctx, id), [[START.toISOString(), 'missed']]);
});

t.test('Pending executions are deleted and give their quota back', async (t) => {
  const id = await postTask(app, alice);
  await execute(id);
  await execute(id);
  t.match(await readUsage(ctx, alice.id), { executions: 2 });
  await setActive(false);
  t.same(await readRuns(ctx, id), []);
  t.same(await readUsage(ctx, alice.id), { executions: 0, tokens: 0, tokensReserved: 0 });
});

t.test('The occurrence of a pending planned run is missed, and a `once` task runs after all', async (t) => {
  const daily = await insertTask(ctx, alice.id, offline);
  const once = await insertTask(ctx, alice.id, { ...offline, recurrence: 'once' });
  await enqueueDue(ctx);
  await setActive(false);
  t.same(await readLedger(ctx, daily), [[START.toISOString(), 'missed']]);
  t.same(await readLedger(ctx, once), []);
  clock.advance(HOUR);
  await setActive(true);
  await runDue(ctx);
  t.same(await readLedger(ctx, once), [[START.toISOString(), 'late']]);
  t.equal((await readTaskRow(ctx, once)).status, 'completed');
  t.same((await readTaskRow(ctx, daily)).nextExecutionAt, new Date('2026-11-21T10:00:00Z'));
});

t.test('A running execution completes, and its retry does not follow', async (t) => {
  const id = await insertTask(ctx, alice.id, { recurrence: 'once' });
  await enqueueDue(ctx);
  const [run] = (await pipeline.claim(ctx, { limit: 10, after: 0 })).started;
  if (!run) return t.fail('it did not start');
  await setActive(false);
  t.equal((await readRun(ctx, id)).status, 'running');
  await inTransaction(ctx, (tx) =>
    completeExecutions(tx, [{ id: run.id, claimToken: run.claimToken, ...BUSY_OUTCOME }]),
  );
  clock.advance(HOUR);
  await runDue({ ...ctx, ai: createFixedAi(BUSY_OUTCOME) });
  t.equal((await readRun(ctx, id)).status, 'failed');
  await setActive(true);
  t.match(await readTaskRow(ctx, id), { status: 'failed', nextExecutionAt: null }, 'no run is scheduled');
});

t.test('An execution that is inserted during a deactivation does not run', async (t) => {
  const id = await insertTask(ctx, alice.id, { ...offline, nextExecutionAt: null });
  for (let round = 0; round < 5; round++) {
    const [answers] = await Promise.all([Promise.all([execute(id), execute(id)]), setActive(false), runDue(ctx)]);
    for (const { statusCode } of answers) t.ok([201, 401, 404].includes(statusCode), String(statusCode));
    const ended = await ctx.db.$count(executions, eq(executions.status, 'completed'));
    await runDue(ctx);
    t.equal(await ctx.db.$count(executions, eq(executions.status, 'completed')), ended);
    await setActive(true);
  }
});
