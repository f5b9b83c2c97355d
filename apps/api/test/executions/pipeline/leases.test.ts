import { usageRecords } from '@carillon/db';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import {
  handBackExecutions,
  renewExecutions,
  rescueExecutions,
} from '../../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { testEngine } from '../../support/engine.ts';
import { passTime } from '../../support/leases.ts';
import { insertTask, insertTasks, readRun, readTaskRow } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, newProcess } = await testEngine(t);

const LEASE_MS = 30_000;
/** Claims as a process that dies afterwards. */
const claimAndDie = async () => (await pipeline.claim(ctx, { limit: 100, after: 0 })).started;

/** Each request waits until it is released; the n-th is answered with `Answer n`. */
function holdEach() {
  const places = [1, 2].map(() => ({ reached: Promise.withResolvers<void>(), letGo: Promise.withResolvers<void>() }));
  ai.answer(async () => {
    const number = ai.requests.length;
    places[number - 1]?.reached.resolve();
    await places[number - 1]?.letGo.promise;
    return { text: `Answer ${number}` };
  });
  return places.map(({ reached, letGo }) => ({ reached: reached.promise, letGo: letGo.resolve }));
}

t.test('An execution whose process died runs again after its lease has expired, as the same execution', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const [dead] = await claimAndDie();
  await passTime({ ctx, clock }, LEASE_MS - 5000);
  t.strictSame(await rescueExecutions(ctx), []);
  await passTime({ ctx, clock }, 5000);
  t.strictSame(await rescueExecutions(ctx), [dead!.id]);
  t.match(await readRun(ctx, task), { id: dead!.id, status: 'pending', interruptions: 1, claimToken: null });

  await newProcess(t).worker.drain();
  t.match(await readRun(ctx, task), { id: dead!.id, status: 'completed', attempt: 1, interruptions: 1 });
  t.equal((await readTaskRow(ctx, task)).executionCount, 1);
  t.match(await ctx.db.select().from(usageRecords).orderBy(usageRecords.id), [
    { source: 'interrupted', executions: 0, outputTokens: 0, estimated: true },
    { source: 'execution', executions: 1, estimated: false },
  ]);
});

t.test('An execution that was handed back counts as not interrupted', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await handBackExecutions(ctx, await claimAndDie());
  t.match(await readRun(ctx, task), { status: 'pending', interruptions: 0, interruptedAt: null });
});

t.test('Many rescues at once take over each execution once', async (t) => {
  await insertTasks(ctx, [alice().id, alice().id, alice().id, alice().id, alice().id]);
  await enqueueDue(ctx);
  const dead = await claimAndDie();
  t.equal(dead.length, 5);
  await passTime({ ctx, clock }, LEASE_MS + 1);
  const rescued = await Promise.all(Array.from({ length: 8 }, () => rescueExecutions(ctx)));
  t.strictSame(rescued.flat().sort(), dead.map(({ id }) => id).sort());
});

t.test(
  'A process that has lost a lease can neither complete nor bill the execution, before and after its end',
  async (t) => {
    for (const late of [false, true]) {
      ai.requests.length = 0;
      const [first, second] = holdEach();
      const task = await insertTask(ctx, alice().id);
      await enqueueDue(ctx);
      const [slow, quick] = [newProcess(t), newProcess(t)];
      slow.worker.wakeExecutions();
      await first!.reached;
      await passTime({ ctx, clock }, LEASE_MS + 1);
      await rescueExecutions(ctx);
      quick.worker.wakeExecutions();
      await second!.reached;
      for (const [worker, { letGo }] of late
        ? ([
            [quick.worker, second!],
            [slow.worker, first!],
          ] as const)
        : ([
            [slow.worker, first!],
            [quick.worker, second!],
          ] as const)) {
        letGo();
        await worker.drain();
      }
      t.match(await readRun(ctx, task), { status: 'completed', result: 'Answer 2' });
    }
    t.equal(await ctx.db.$count(usageRecords), 4);
  },
);

t.test('A stalled process keeps its executions, even if it rescues before it renews', async (t) => {
  const [first] = holdEach();
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const { worker } = newProcess(t);
  worker.wakeExecutions();
  await first!.reached;
  await passTime({ ctx, clock }, 10 * LEASE_MS);
  t.strictSame(await worker.rescue(), []);
  first!.letGo();
  await worker.drain();
  t.match(await readRun(ctx, task), { status: 'completed', result: 'Answer 1', interruptions: 0 });
});

t.test('A renewed lease continues, and the leases of others are not renewed', async (t) => {
  const [first, second] = await insertTasks(ctx, [alice().id, alice().id]);
  await enqueueDue(ctx);
  const [mine, lost] = await claimAndDie();
  t.strictSame([mine!.taskId, lost!.taskId], [first, second]);
  await passTime({ ctx, clock }, 20_000);
  const notMine = { id: lost!.id, claimToken: '00000000-0000-4000-8000-000000000000' };
  t.strictSame([...(await renewExecutions(ctx, [mine!, notMine]))], [mine!.id]);
  await passTime({ ctx, clock }, 20_000);
  t.strictSame(await rescueExecutions(ctx), [lost!.id]);
  await passTime({ ctx, clock }, 10_001);
  t.strictSame(await rescueExecutions(ctx), [mine!.id]);
});

t.test('A lease whose row is locked counts as held, and renewal does not wait for it', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const [mine] = await claimAndDie();
  const other = newProcess(t);
  await other.ctx.db.transaction(async (tx) => {
    await tx.execute(`select from executions where task_id = ${task} for update`);
    t.strictSame([...(await renewExecutions(ctx, [mine!]))], [mine!.id]);
  });
});

t.test('An execution that was interrupted three times fails as INTERRUPTED the next time', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrence: 'once' });
  await enqueueDue(ctx);
  const interruptedAt: Date[] = [];
  for (let interruptions = 0; interruptions < 3; interruptions += 1) {
    t.match(await readRun(ctx, task), { status: 'pending', interruptions });
    await claimAndDie();
    await passTime({ ctx, clock }, LEASE_MS + 1);
    t.equal((await rescueExecutions(ctx)).length, 1);
    interruptedAt.push(ctx.now());
    t.strictSame((await readRun(ctx, task)).interruptedAt, interruptedAt, 'and when each was found is kept');
  }
  await claimAndDie();
  await passTime({ ctx, clock }, LEASE_MS + 1);
  t.strictSame(await rescueExecutions(ctx), []);
  t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'INTERRUPTED', interruptions: 3, interruptedAt });
  t.match(await readTaskRow(ctx, task), { status: 'failed', executionCount: 1 });
});
