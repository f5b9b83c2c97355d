import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { usageRecords } from '@carillon/db';
import t from 'tap';
import { createAi } from '../../../src/lib/ai/client.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { rescueExecutions } from '../../../src/product/executions/pipeline/leases.ts';
import { deleteTask } from '../../../src/product/tasks/delete.ts';
import { testEngine } from '../../support/engine.ts';
import { passTime } from '../../support/leases.ts';
import { insertQueuedRuns, insertTask, readRun, readRuns } from '../../support/task-rows.ts';

const { ctx, clock, alice, newProcess } = await testEngine(t);

const LEASE_MS = 30_000;

/** A provider that never answers; `calls` shows, in order, which clients have aborted. */
async function silentProvider(t: { teardown(work: () => unknown): unknown }) {
  const calls = [1, 2].map(() => ({ reached: Promise.withResolvers<void>(), closed: Promise.withResolvers<void>() }));
  let count = 0;
  const server = createServer((request) => {
    const call = calls[count++];
    request.socket.once('close', () => call?.closed.resolve());
    call?.reached.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const silent = createAi({ ...ctx.config.ai, baseUrl });
  t.teardown(async () => {
    await silent.close();
    server.close();
  });
  return {
    ai: silent,
    calls: calls.map(({ reached, closed }) => ({ reached: reached.promise, closed: closed.promise })),
  };
}

t.test('A process that has lost a lease aborts the call as soon as it finds out', async (t) => {
  const silent = await silentProvider(t);
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const [slow, quick] = [newProcess(t, {}, silent.ai), newProcess(t)];
  slow.worker.wakeExecutions();
  await silent.calls[0]?.reached;
  await passTime({ ctx, clock }, LEASE_MS + 1);
  await rescueExecutions(quick.ctx);
  await quick.worker.drain();
  await slow.worker.rescue();
  await silent.calls[0]?.closed;
  t.match(await readRun(ctx, task), { status: 'completed', result: /^Answer to/ });
});

t.test(
  'An execution that comes back to the process that had lost it is called once more, and its result is stored',
  async (t) => {
    const silent = await silentProvider(t);
    const task = await insertTask(ctx, alice().id);
    await enqueueDue(ctx);
    const { ctx: own, worker } = newProcess(t, {}, silent.ai);
    worker.wakeExecutions();
    await silent.calls[0]?.reached;
    await passTime({ ctx, clock }, LEASE_MS + 1);
    await rescueExecutions(own);
    worker.wakeExecutions();
    await silent.calls[1]?.reached;
    await silent.calls[0]?.closed;
    await passTime({ ctx, clock }, 20_000);
    t.strictSame(await worker.rescue(), []);
    await passTime({ ctx, clock }, 20_000);
    t.strictSame(await rescueExecutions(ctx), []);
    t.match(await readRun(ctx, task), { status: 'running', interruptions: 1 });
  },
);

t.test('Deleting a task aborts its call and discards the result', async (t) => {
  const silent = await silentProvider(t);
  const task = await insertTask(ctx, alice().id);
  await insertQueuedRuns(ctx, [task]);
  await enqueueDue(ctx);
  const process = newProcess(t, {}, silent.ai);
  process.worker.wakeExecutions();
  await silent.calls[0]?.reached;
  await deleteTask(process.ctx, alice(), task);
  await silent.calls[0]?.closed;
  await process.worker.drain();
  t.strictSame(await readRuns(ctx, task), []);
  t.match(await ctx.db.select().from(usageRecords), [{ executions: 1, outputTokens: 0, estimated: true }]);
});

t.test('A process aborts the call of a task that another process deleted, at its next renewal', async (t) => {
  const silent = await silentProvider(t);
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const process = newProcess(t, {}, silent.ai);
  process.worker.wakeExecutions();
  await silent.calls[0]?.reached;
  await deleteTask(ctx, alice(), task);
  await process.worker.rescue();
  await silent.calls[0]?.closed;
  await process.worker.drain();
  t.strictSame(await readRuns(ctx, task), []);
});
