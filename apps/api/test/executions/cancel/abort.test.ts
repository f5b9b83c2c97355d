import t from 'tap';
import type { Lease } from '../../../src/lib/queue/leases.ts';
import { createFileStorage } from '../../../src/lib/storage/client.ts';
import { cancelExecution } from '../../../src/product/executions/cancel.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { readQueue, rescueExecutions } from '../../../src/product/executions/pipeline/leases.ts';
import { deleteTask } from '../../../src/product/tasks/delete.ts';
import { CSV, storeAttachment } from '../../support/attachments.ts';
import { testEngine } from '../../support/engine.ts';
import { passTime } from '../../support/leases.ts';
import type { AiServerRequest } from '../../support/servers/ai-server.ts';
import { insertTask, readRun, readRuns } from '../../support/task-rows.ts';

const { ctx, ai, alice, clock, newProcess, newWorker } = await testEngine(t);

/** Starts a run in a process whose provider never answers. */
async function silentRun(t: Parameters<typeof newProcess>[0]) {
  const reached = Promise.withResolvers<AiServerRequest>();
  ai.answer((request) => {
    reached.resolve(request);
    return { hang: 'head' };
  });
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const process = newProcess(t);
  process.worker.wakeExecutions();
  return { task, process, request: await reached.promise };
}

t.test('The process that cancels a run of its own closes the connection to the provider', async (t) => {
  const { task, process, request } = await silentRun(t);
  await cancelExecution(process.ctx, alice(), (await readRun(ctx, task)).id);
  await request.hungUp;
  await process.worker.drain();
  t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'CANCELLED' });
});

t.test('A process closes the connection of a run that another process cancelled, at its next poll', async (t) => {
  const { task, process, request } = await silentRun(t);
  await cancelExecution(ctx, alice(), (await readRun(ctx, task)).id);
  process.worker.start();
  await request.hungUp;
  t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'CANCELLED' });
});

t.test('A process closes the connection of a task that another process deleted, at its next poll', async (t) => {
  const { task, process, request } = await silentRun(t);
  await deleteTask(ctx, alice(), task);
  process.worker.start();
  await request.hungUp;
  t.strictSame(await readRuns(ctx, task), []);
});

t.test('A process that is stopping still closes the connections of cancelled runs', async (t) => {
  const reached = Promise.withResolvers<void>();
  ai.answer(() => {
    reached.resolve();
    return { hang: 'head' };
  });
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const worker = newWorker(t, {}, { graceMs: 60_000 });
  worker.start();
  await reached.promise;
  const stopped = worker.stop();
  await cancelExecution(ctx, alice(), (await readRun(ctx, task)).id);
  await stopped;
  t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'CANCELLED', interruptions: 0 });
});

t.test('A run that is cancelled while its attachments are read never asks the model', async (t) => {
  const disk = createFileStorage({ storage: { driver: 'disk', url: 'http://files.test', folder: t.testdir() } });
  const { id } = await storeAttachment({ ...ctx, files: disk }, alice().id, CSV);
  const reading = Promise.withResolvers<void>();
  const files = {
    ...disk,
    read: () => {
      reading.resolve();
      return new Promise<never>(() => {});
    },
  };
  const task = await insertTask(ctx, alice().id, { attachments: [id] });
  await enqueueDue(ctx);
  const worker = newWorker(t, { files });
  worker.wakeExecutions();
  await reading.promise;
  await cancelExecution(ctx, alice(), (await readRun(ctx, task)).id);
  worker.start();
  await worker.drain();
  t.equal(ai.requests.length, 0);
  t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'CANCELLED' });
});

t.test('The poll names exactly the claims that are gone', async (t) => {
  const tasks = [];
  for (let n = 0; n < 4; n++) tasks.push(await insertTask(ctx, alice().id));
  await enqueueDue(ctx);
  ai.answer(() => ({ hang: 'head' }));
  const process = newProcess(t);
  process.worker.wakeExecutions();
  const held: Lease<number>[] = [];
  for (const task of tasks) {
    const { id, claimToken } = await untilRunning(task);
    held.push({ id, claimToken });
  }
  const lost = async () => (await readQueue(ctx, held)).lost.map(({ id }) => id);
  t.strictSame(await lost(), []);
  const [cancelled, deleted, kept, taken] = held.map(({ id }) => id) as [number, number, number, number];
  await cancelExecution(ctx, alice(), cancelled);
  t.strictSame(await lost(), [cancelled]);
  await deleteTask(ctx, alice(), tasks[1] as number);
  t.strictSame(await lost(), [cancelled, deleted]);
  await passTime({ ctx, clock }, 31_000);
  await rescueExecutions(ctx);
  t.strictSame(await lost(), [cancelled, deleted, kept, taken]);
  t.strictSame((await readQueue(ctx, [])).lost, []);
});

async function untilRunning(task: number) {
  for (;;) {
    const { id, claimToken } = await readRun(ctx, task);
    if (claimToken !== null) return { id, claimToken };
  }
}
