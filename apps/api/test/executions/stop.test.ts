import { usageRecords } from '@carillon/db';
import t from 'tap';
import { enqueueDue } from '../../src/executions/enqueue.ts';
import { testEngine } from '../support/engine.ts';
import { insertTask, insertTasks, readRun, readTask } from '../support/schedules.ts';

const { ctx, ai, alice, newProcess, newWorker, logged } = await testEngine(t);

/** No answer comes before `letGo`. */
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

t.test('a stopping worker hands back what does not end in time, and another runs it at once', async (t) => {
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
  t.equal((await readTask(ctx, task)).executionCount, 1);
  t.match(await ctx.db.select().from(usageRecords).orderBy(usageRecords.id), [
    { source: 'interrupted', executions: 0 },
    { source: 'execution', executions: 1 },
  ]);
});

t.test('a stopping worker waits for what ends in time', async (t) => {
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

t.test('a stopped worker claims nothing, whoever asks it to', async (t) => {
  const task = await insertTask(ctx, alice().id);
  const worker = newWorker(t);
  await worker.stop();
  await enqueueDue({ ...ctx, worker });
  worker.wakeExecutions();
  await worker.drain();
  t.match(await readRun(ctx, task), { status: 'pending' });
  t.equal(ai.requests.length, 0);
});

t.test('a worker that is stopped in the middle of its work leaves nothing running', async (t) => {
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

t.test('a worker stops although the database is gone', async (t) => {
  const { reached } = holdAll();
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const process = newProcess(t);
  process.worker.wakeExecutions();
  await reached;
  await process.close();
  await process.worker.stop();
  t.match(logged.at(-1), { level: 50, msg: /^executions could not be handed back/ });
  // Their lease would end, so that the next test's books are its own.
  await ctx.db.execute('delete from tasks');
  await ctx.db.execute('delete from usage_counters');
});
