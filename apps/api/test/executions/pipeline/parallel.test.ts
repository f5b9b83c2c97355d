import { executions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../../src/context.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { recordDeadlocks } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { insertQueuedRuns, insertTask, insertTasks, insertUsers, PROMPT, readRuns } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, newProcess } = await testEngine(t);

const promptOf = (request: { body: { messages: { content: unknown }[] } }) =>
  String(request.body.messages.at(-1)?.content);
const countRunning = () => ctx.db.$count(executions, eq(executions.status, 'running'));
const times = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));

/** Counts how many of one key ever ran at once. */
function watchOverlap() {
  const underWay = new Map<string, number>();
  const most = new Map<string, number>();
  return {
    most,
    async during(key: string, ms: number) {
      underWay.set(key, (underWay.get(key) ?? 0) + 1);
      most.set(key, Math.max(most.get(key) ?? 0, underWay.get(key) ?? 0));
      await new Promise((resolve) => setTimeout(resolve, ms));
      underWay.set(key, (underWay.get(key) ?? 0) - 1);
      return {};
    },
  };
}

t.test('2000 due tasks run once each, with any number of processes that tick and work', async (t) => {
  const people = await insertUsers(ctx, 50, 'trial');
  await insertTasks(
    ctx,
    times(2000, (at) => people[at % 50]!),
  );
  const processes = times(4, () => newProcess(t));
  const deadlocks = times(4, (at) => recordDeadlocks(processes[at]!.ctx));

  const enqueued = await Promise.all(processes.map((process) => enqueueDue(process.ctx)));
  await Promise.all(processes.map(({ worker }) => worker.drain()));

  t.equal(new Set(enqueued.flatMap(({ queued }) => queued)).size, 2000);
  const runs = await ctx.db.select().from(executions);
  t.equal(runs.length, 2000);
  t.equal(new Set(runs.map(({ taskId }) => taskId)).size, 2000);
  t.ok(runs.every(({ status }) => status === 'completed'));
  t.equal(ai.requests.length, 2000);
  t.equal(new Set(ai.requests.map(promptOf)).size, 2000);
  t.strictSame(deadlocks.flat(), []);
});

t.test('A user never has more than 5 running executions, over all processes', async (t) => {
  const people = await insertUsers(ctx, 3);
  const overlap = watchOverlap();
  ai.answer((request) => overlap.during(promptOf(request), 10));
  for (const person of people) {
    await insertQueuedRuns(
      ctx,
      await insertTasks(
        ctx,
        times(30, () => person),
        { prompt: `${PROMPT} ${person}` },
      ),
    );
  }
  const processes = times(4, () => newProcess(t));
  await Promise.all(processes.map(({ worker }) => worker.drain()));
  t.equal(ai.requests.length, 90);
  t.strictSame([...overlap.most.values()], [5, 5, 5]);
});

t.test('A task never overlaps itself: its executions wait for each other', async (t) => {
  const overlap = watchOverlap();
  ai.answer((request) => overlap.during(promptOf(request), 5));
  const task = await insertTask(ctx, alice().id);
  for (let run = 0; run < 8; run += 1) await insertQueuedRuns(ctx, [task]);
  const processes = times(4, () => newProcess(t));
  while ((await readRuns(ctx, task)).some(({ status }) => status === 'pending')) {
    await Promise.all(processes.map(({ worker }) => worker.drain()));
  }
  t.equal(ai.requests.length, 8);
  t.strictSame([...overlap.most.values()], [1]);
});

t.test('20 claims at once start 5 executions per user and 1000 in all, and no more', async (t) => {
  const people = await insertUsers(ctx, 210);
  await insertQueuedRuns(
    ctx,
    await insertTasks(
      ctx,
      times(210 * 6, (at) => people[at % 210]!),
    ),
  );
  const processes = times(4, () => newProcess(t));

  const seen: number[] = [];
  async function claimAll(ctx: Context) {
    for (let after = 0, idle = false; !idle; ) {
      const { started, next, isFull, isContended } = await pipeline.claim(ctx, { limit: 100, after });
      seen.push(await countRunning());
      idle = (next === 0 || isFull) && !isContended && started.length === 0;
      after = next;
    }
    return [];
  }
  await Promise.all(times(20, (at) => claimAll(processes[at % 4]!.ctx)));

  t.equal(Math.max(...seen), 1000);
  const running = await ctx.db.select().from(executions).where(eq(executions.status, 'running'));
  t.equal(running.length, 1000);
  const perUser = new Map<number, number>();
  for (const { userId } of running) perUser.set(userId, (perUser.get(userId) ?? 0) + 1);
  t.equal(Math.max(...perUser.values()), 5);
  t.equal(new Set(running.map(({ taskId }) => taskId)).size, 1000);
});

t.test('Claims of one execution at a time go round the users', async (t) => {
  const people = await insertUsers(ctx, 12);
  await insertQueuedRuns(
    ctx,
    await insertTasks(
      ctx,
      times(36, (at) => people[at % 12]!),
      { nextExecutionAt: null },
    ),
  );
  // An update stores the rows in another order than their ids have.
  for (const person of people.toReversed()) await ctx.db.update(users).set({ name: 'N' }).where(eq(users.id, person));
  await ctx.db.execute('analyze');
  const order: number[] = [];
  for (let after = 0; order.length < 24; ) {
    const { started, next } = await pipeline.claim(ctx, { limit: 1, after });
    order.push(...started.map(({ userId }) => userId));
    after = next;
  }
  t.strictSame(order, [...people, ...people]);
});

t.test('A task does not wait for the many executions of another task of its owner', async (t) => {
  const [busy, other] = await insertTasks(ctx, [alice().id, alice().id], { nextExecutionAt: null });
  for (let run = 0; run < 100; run += 1) await insertQueuedRuns(ctx, [busy!]);
  clock.advance(1000);
  await insertQueuedRuns(ctx, [other!]);
  const { started } = await pipeline.claim(ctx, { limit: 100, after: 0 });
  t.strictSame(
    started.map(({ taskId }) => taskId),
    [busy, other],
  );
});

for (const slots of ['1', '4', '100']) {
  t.test(`A task of another user does not wait for a user's thousand executions, with ${slots} slots`, async (t) => {
    const [a, b] = await insertUsers(ctx, 2);
    await insertQueuedRuns(
      ctx,
      await insertTasks(
        ctx,
        times(1000, () => a!),
      ),
    );
    clock.advance(1000);
    await insertQueuedRuns(ctx, [await insertTask(ctx, b!, { prompt: 'The only one of mine.' })]);

    const { worker } = newProcess(t, { executionConcurrency: Number(slots) });
    const reached = new Promise<number>((resolve) => {
      ai.answer((request) => {
        if (promptOf(request) === 'The only one of mine.') resolve(ai.requests.length - 1);
        return {};
      });
    });
    worker.wakeExecutions();
    const before = await reached;
    t.ok(before <= 6, `after ${before} others`);
    await worker.stop();
  });
}
