import { executions } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import type { Caller } from '../../../src/context.ts';
import type { AppError } from '../../../src/errors.ts';
import { tryWatch } from '../../../src/product/executions/result/try-watch.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { buildCaller, testEngine } from '../../support/engine.ts';
import { insertTask, insertUsers, readRun } from '../../support/task-rows.ts';
import { runDue } from '../../support/tasks.ts';

const { ctx, ai, alice } = await testEngine(t);

const OUTPUT = { price: 11.9, shop: 'Bells & Co', list: [{ id: 'a', v: 1 }, { id: 'b' }] };

async function insertWithSuccess(output: unknown, text = JSON.stringify(output)) {
  const task = await insertTask(ctx, alice().id, { status: 'paused', nextExecutionAt: null });
  ai.answer(() => ({ text }));
  await executeTask(ctx, alice(), task);
  await runDue(ctx);
  await ctx.db.update(executions).set({ output }).where(eq(executions.taskId, task));
  return task;
}

t.test('Trying paths says what each leads to in the answer', async (t) => {
  const tried = await tryWatch(ctx, alice(), { output: OUTPUT, watch: ['price', 'list[id].v', 'list[].id', 'pries'] });
  t.strictSame(tried, {
    values: [
      { path: 'price', value: 11.9 },
      { path: 'list[id="a"].v', value: 1 },
      { path: 'list[0].id', value: 'a' },
      { path: 'list[1].id', value: 'b' },
      { path: 'pries' },
    ],
    changes: null,
  });
});

t.test('Without a path the fields of the output are shown, and without an output nothing', async (t) => {
  const { values } = await tryWatch(ctx, alice(), { output: OUTPUT, watch: [] });
  t.strictSame(
    values,
    Object.entries(OUTPUT).map(([path, value]) => ({ path, value })),
  );
  t.strictSame(await tryWatch(ctx, alice(), { text: 'A', watch: ['price'] }), { values: [], changes: null });
});

t.test('An answer is compared with the last success of the task', async (t) => {
  const taskId = await insertWithSuccess({ ...OUTPUT, price: 12.5 });
  const tried = { taskId, output: OUTPUT, watch: ['price'] };
  t.strictSame((await tryWatch(ctx, alice(), tried)).changes, [{ path: 'price', from: 12.5, to: 11.9 }]);
  t.strictSame((await tryWatch(ctx, alice(), { ...tried, watch: ['shop'] })).changes, []);
  const byText = await insertWithSuccess(null, 'Good day');
  t.match(await tryWatch(ctx, alice(), { taskId: byText, text: 'Good  day', watch: [] }), { values: [], changes: [] });
  t.match((await tryWatch(ctx, alice(), { taskId: byText, text: 'Bad day', watch: [] })).changes, [{ path: '' }]);
});

t.test('A task without a success has nothing to compare with', async (t) => {
  const taskId = await insertTask(ctx, alice().id);
  t.equal((await tryWatch(ctx, alice(), { taskId, output: OUTPUT, watch: [] })).changes, null);
  const pruned = await insertWithSuccess(OUTPUT);
  await ctx.db.delete(executions).where(eq(executions.id, (await readRun(ctx, pruned)).id));
  t.equal((await tryWatch(ctx, alice(), { taskId: pruned, output: OUTPUT, watch: [] })).changes, null);
});

t.test("Another account's task is not found, and an invalid path is named", async (t) => {
  const taskId = await insertWithSuccess(OUTPUT);
  const [eve] = await insertUsers(ctx, 1);
  const fail = (caller: Caller, input: Parameters<typeof tryWatch>[2]) =>
    tryWatch(ctx, caller, input).catch((error: AppError) => error);
  t.match(await fail(buildCaller(eve as number), { taskId, output: {}, watch: [] }), { kind: 'not_found' });
  const paths = { output: {}, watch: ['a', 'b..'] };
  t.match(await fail(alice(), paths), { kind: 'invalid', details: { watch: [/^item 2 must be a path/] } });
});

t.test('At most 100 values are shown, each cut', async (t) => {
  const output = { list: Array.from({ length: 50_000 }, () => 'x'.repeat(10)), long: 'y'.repeat(5000) };
  const watch = ['long', 'list[]', 'list[a]', 'list[b]', 'list[c]', 'list[d]', 'list[e]'];
  const { values } = await tryWatch(ctx, alice(), { output, watch });
  t.equal(values.length, 100);
  t.equal(values[0]?.value, `${'y'.repeat(2000)}…`);
});
