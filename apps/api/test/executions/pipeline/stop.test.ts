import { usageRecords } from '@carillon/db';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTask, insertTasks, readRun, readTaskRow } from '../../support/task-rows.ts';

const { ctx, ai, alice, newProcess, newWorker, logged } = await testEngine(t);

/** Answers only after `letGo`. */
function holdAll() {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  ai.answer(async () => {
    reached.resolve();
    await held.promise;
    return { text: 'At last.' };
  });
  return { reached: reached.promise, letGo: held.resolve };
}

t.test('A stopping worker hands back what does not end in time, and another worker runs it at once', async (t) => {
  const { reached, letGo } = holdAll();
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const [first, second] = [newProcess(t), newProcess(t)];
  first.worker.wakeExecutions();
  await reached;
  await first.worker.stop();
  t.match(await readRun(ctx, task), { status: 'pending', claimToken: null, interruptions: 0 });
  letGo();
  await second.worker.drain();
  t.match(await readRun(ctx, task), { status: 'completed', result: 'At last.' });
  t.equal((await readTaskRow(ctx, task)).executionCount, 1);
  t.match(await ctx.db.select().from(usageRecords).orderBy(usageRecords.id), [
    { source: 'interrupted', executions: 0 },
    { source: 'execution', executions: 1 },
  ]);
});

t.test('A stopping worker waits for executions that end in time', async (t) => {
  const { reached, letGo } = holdAll();
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const worker = newWorker(t, {}, { graceMs: 10_000 });
  worker.wakeExecutions();
  await reached;
  const stopped = worker.stop();
  letGo();
  await stopped;
  t.match(await readRun(ctx, task), { status: 'completed', result: 'At last.' });
});

t.test('A stopped worker claims nothing, for every way to wake it', async (t) => {
  const task = await insertTask(ctx, alice().id);
  const worker = newWorker(t);
  await worker.stop();
  await enqueueDue({ ...ctx, worker });
  worker.wakeExecutions();
  await worker.drain();
  t.match(await readRun(ctx, task), { status: 'pending' });
  t.equal(ai.requests.length, 0);
});

t.test('A worker that is stopped in the middle of its work leaves nothing running', async (t) => {
  await insertTasks(
    ctx,
    Array.from({ length: 40 }, () => alice().id),
  );
  await enqueueDue(ctx);
  const { worker } = newProcess(t);
  const stopped = new Promise<void>((resolve) => {
    ai.answer(() => {
      if (ai.requests.length === 12) resolve(worker.stop());
      return {};
    });
  });
  worker.wakeExecutions();
  await stopped;
  const [row] = await ctx.db.execute("select count(*)::int as running from executions where status = 'running'");
  t.equal(row?.running, 0);
});

t.test('A worker stops even if the database is unavailable', async (t) => {
  const { reached } = holdAll();
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const process = newProcess(t);
  process.worker.wakeExecutions();
  await reached;
  await process.close();
  await process.worker.stop();
  t.match(logged.at(-1), { level: 50, msg: /^executions could not be returned/ });
  // Expires the leases, so that the next test starts without them.
  await ctx.db.execute('delete from tasks');
  await ctx.db.execute('delete from usage_counters');
});
