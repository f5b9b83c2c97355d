import { executions, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { compareWithLastSuccess } from '../../../src/product/executions/result/last-success.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { duplicateTask } from '../../../src/product/tasks/duplicate.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTask, insertUsers, readRuns, readTaskRow } from '../../support/task-rows.ts';
import { runDue } from '../../support/tasks.ts';

const { ctx, ai, clock, alice } = await testEngine(t);
const DAY_MS = 86_400_000;

const insert = () => insertTask(ctx, alice().id);

/** Runs the task at its next planned instant and answers with `text`, or fails for ever without one. */
async function runPlanned(taskId: number, text: string | null) {
  ai.answer(() => (text === null ? { status: 401 } : { text }));
  const { nextExecutionAt } = await readTaskRow(ctx, taskId);
  if (nextExecutionAt && nextExecutionAt > ctx.now()) clock.set(nextExecutionAt);
  await runDue(ctx);
  return readLast(taskId);
}

async function runByHand(taskId: number, text: string) {
  ai.answer(() => ({ text }));
  await executeTask(ctx, alice(), taskId);
  await runDue(ctx);
  return readLast(taskId);
}

async function readLast(taskId: number) {
  const { id, status, changed, changes, comparedWithId } = (await readRuns(ctx, taskId)).at(-1)!;
  return { id, status, changed, changes, comparedWithId };
}

t.test('The first success is compared with nothing', async (t) => {
  t.match(await runPlanned(await insert(), 'A'), { changed: null, changes: null, comparedWithId: null });
});

t.test('A success is compared with the success before it', async (t) => {
  const task = await insert();
  const first = await runPlanned(task, 'A');
  const same = await runPlanned(task, 'A');
  t.match(same, { changed: false, changes: [], comparedWithId: first.id });
  const folded = await runPlanned(task, ' A\n');
  t.match(folded, { changed: false, changes: [], comparedWithId: same.id });
  const other = await runPlanned(task, 'B');
  t.match(other, { changed: true, changes: [{ path: '', from: ' A\n', to: 'B' }], comparedWithId: folded.id });
});

t.test('A failure between is passed over, and has no comparison itself', async (t) => {
  const task = await insert();
  const first = await runPlanned(task, 'A');
  t.match(await runPlanned(task, null), { status: 'failed', changed: null, changes: null, comparedWithId: null });
  t.match(await runPlanned(task, 'A'), { changed: false, comparedWithId: first.id });
});

t.test('A cancelled run between is passed over', async (t) => {
  const task = await insert();
  const first = await runPlanned(task, 'A');
  const { id } = await runPlanned(task, null);
  await ctx.db.update(executions).set({ errorCode: 'CANCELLED' }).where(eq(executions.id, id));
  t.match(await runPlanned(task, 'B'), { changed: true, comparedWithId: first.id });
});

t.test('A run by hand counts like a planned one', async (t) => {
  const task = await insert();
  await runPlanned(task, 'A');
  const byHand = await runByHand(task, 'B');
  t.match(byHand, { changed: true });
  t.match(await runPlanned(task, 'B'), { changed: false, comparedWithId: byHand.id });
});

t.test('A retry is compared with the success before its first attempt', async (t) => {
  const task = await insert();
  const first = await runPlanned(task, 'A');
  clock.advance(DAY_MS);
  ai.answer(() => ({ status: 503 }));
  await runDue(ctx);
  clock.advance(60_000);
  ai.answer(() => ({ text: 'B' }));
  await runDue(ctx);
  const retry = await readLast(task);
  t.equal((await readRuns(ctx, task)).at(-1)?.trigger, 'retry');
  t.match(retry, { changed: true, comparedWithId: first.id });
  t.match(await runPlanned(task, 'B'), { changed: false, comparedWithId: retry.id });
});

t.test('The watched paths are those at the start of the run, also for the earlier output', async (t) => {
  const earlier = { price: 1, stock: 5 };
  const later = { text: '{"price":2,"stock":5}', output: { price: 2, stock: 5 } };
  const compare = await storeSuccess({ text: JSON.stringify(earlier), output: earlier });
  t.match(await compare(later, ['stock']), { changed: false, changes: [] });
  t.match(await compare(later, ['price']), { changed: true, changes: [{ path: 'price', from: 1, to: 2 }] });
});

t.test('With a schema since the last success, the values are new, unless the text is the same', async (t) => {
  const compare = await storeSuccess({ text: '{"price":1}', output: null });
  const output = { price: 1 };
  t.match(await compare({ text: '{"price": 1}', output }, ['price']), {
    changed: true,
    changes: [{ path: 'price', to: 1 }],
  });
  t.match(await compare({ text: '{"price":1}', output }, ['price']), { changed: false });
});

t.test('Without its schema since the last success, a task is compared by its text', async (t) => {
  const compare = await storeSuccess({ text: '{"price":1}', output: { price: 1 } });
  t.match(await compare({ text: 'One euro', output: null }, ['price']), {
    changed: true,
    changes: [{ path: '', from: '{"price":1}', to: 'One euro' }],
  });
});

t.test('With another schema since the last success, what both outputs have is compared', async (t) => {
  const compare = await storeSuccess({ text: '{"price":1}', output: { price: 1 } });
  const output = { price: 1, currency: 'EUR' };
  const text = JSON.stringify(output);
  t.match(await compare({ text, output }, ['price']), { changed: false });
  t.match(await compare({ text, output }, []), { changed: true, changes: [{ path: 'currency', to: 'EUR' }] });
});

t.test('A last success that retention has deleted leaves no comparison, unless the text is the same', async (t) => {
  const task = await insertTask(ctx, alice().id, { status: 'paused', nextExecutionAt: null });
  await runByHand(task, 'A');
  await ctx.db.delete(executions).where(eq(executions.taskId, task));
  t.match(await runByHand(task, 'B'), { changed: null, changes: null, comparedWithId: null });
  await ctx.db.delete(executions).where(eq(executions.taskId, task));
  t.match(await runByHand(task, 'B'), { changed: false, changes: [] });
});

t.test('A duplicated task starts afresh', async (t) => {
  const task = await insert();
  await runPlanned(task, 'A');
  const copy = await duplicateTask(ctx, alice(), task, {});
  t.match(await runByHand(copy.id, 'B'), { changed: null, comparedWithId: null });
});

t.test('The answer of another task or account is never read', async (t) => {
  const compare = await storeSuccess({ text: 'A', output: null });
  const [eve] = await insertUsers(ctx, 1);
  t.equal(await compare({ text: 'B', output: null }, [], { userId: eve as number }), null);
  t.equal(await compare({ text: 'B', output: null }, [], { taskId: await insert() }), null);
  t.match(await compare({ text: 'B', output: null }, []), { changed: true });
});

t.test('A comparison that fails does not lose the answer', async (t) => {
  const compare = await storeSuccess({ text: 'A', output: null });
  const broken = new Proxy(ctx.db, {
    get() {
      throw new Error('No such column');
    },
  });
  t.equal(await compare({ text: 'B', output: null }, [], {}, { ...ctx, db: broken }), null);
});

t.test('A comparison waits for a database that is unavailable', async (t) => {
  const compare = await storeSuccess({ text: 'A', output: null });
  let failures = 2;
  const flaky = new Proxy(ctx.db, {
    get(target, name) {
      if (failures-- > 0) throw Object.assign(new Error('The connection is gone'), { code: '08006' });
      return Reflect.get(target, name);
    },
  });
  t.match(await compare({ text: 'B', output: null }, [], {}, { ...ctx, db: flaky }), { changed: true });
});

/** Stores a success with this answer; the result compares a later answer with it. */
async function storeSuccess(answer: { text: string; output: unknown }) {
  const taskId = await insert();
  const { id } = await runPlanned(taskId, answer.text);
  await ctx.db.update(executions).set({ output: answer.output }).where(eq(executions.id, id));
  const [task] = await ctx.db.select().from(tasks).where(eq(tasks.id, taskId));
  const { lastSuccessId, lastSuccessDigest } = task!;
  const claimed = { id: id + 1, taskId, userId: alice().id, lastSuccessId, lastSuccessDigest };
  return (later: { text: string; output: unknown }, watch: string[], other: object = {}, given = ctx) =>
    compareWithLastSuccess(given, { ...claimed, watch, ...other }, later, new AbortController().signal);
}
