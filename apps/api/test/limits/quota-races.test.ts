import { endpoints, executions, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { AppError } from '../../src/errors.ts';
import { createWebhook } from '../../src/product/deliveries/webhooks/write.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { executeTask } from '../../src/product/executions/start.ts';
import { createTask } from '../../src/product/tasks/write.ts';
import { testEngine } from '../support/engine.ts';
import { insertQueuedRuns, insertTask, insertTasks, insertUsage, readUsage } from '../support/task-rows.ts';
import { TASK } from '../support/tasks.ts';

const { ctx, alice, newWorker } = await testEngine(t);

const ROUNDS = Array.from({ length: 4 }, (_, round) => round + 1);
const CALLS = 200;

/** Makes concurrent calls and counts the admitted ones, and the rejected ones by quota. */
async function race(call: () => Promise<unknown>) {
  const errors = await Promise.all(
    Array.from({ length: CALLS }, async () => {
      try {
        await call();
        return null;
      } catch (error) {
        if (!(error instanceof AppError) || error.kind !== 'over_quota') throw error;
        return error.details;
      }
    }),
  );
  const rejected = errors.filter((details) => details !== null);
  return { passed: CALLS - rejected.length, rejected: new Set(rejected.map((details) => JSON.stringify(details))) };
}
const by = (resource: string, limit: number, resetAt: string | null = null) =>
  new Set([JSON.stringify({ resource, used: limit, limit, resetAt })]);

for (const round of ROUNDS) {
  t.test(`One of 200 concurrent runs is admitted one below the limit of the day (${round})`, async (t) => {
    const task = await insertTask(ctx, alice().id);
    await insertUsage(ctx, alice().id, { executions: 49 });
    const { passed, rejected } = await race(() => executeTask(ctx, alice(), task));
    t.equal(passed, 1);
    t.same(rejected, by('executions', 50, '2026-11-21T00:00:00.000Z'));
    t.match(await readUsage(ctx, alice().id), { executions: 50 });
    t.equal(await ctx.db.$count(executions), 1);
  });

  t.test(`One of 200 concurrent runs is admitted one below the limit of the month (${round})`, async (t) => {
    const task = await insertTask(ctx, alice().id);
    await insertUsage(ctx, alice().id, { executions: 499, day: '2026-11-02' });
    const { passed, rejected } = await race(() => executeTask(ctx, alice(), task));
    t.equal(passed, 1);
    t.same(rejected, by('executions', 500, '2026-12-01T00:00:00.000Z'));
    t.match(await readUsage(ctx, alice().id, '2026-11'), { executions: 500 });
  });

  t.test(`One of 200 pending runs calls the provider one token below the limit (${round})`, async (t) => {
    await insertUsage(ctx, alice().id, { tokens: 99_999 });
    const made = await insertTasks(
      ctx,
      Array.from({ length: CALLS }, () => alice().id),
      { nextExecutionAt: null },
    );
    await insertQueuedRuns(ctx, made);
    const claims = await Promise.all(Array.from({ length: 20 }, () => pipeline.claim(ctx, { limit: CALLS, after: 0 })));
    t.equal(claims.flatMap(({ started }) => started).length, 1);
    t.match(await readUsage(ctx, alice().id), { tokens: 99_999, tokensReserved: 100 });
    t.equal(await ctx.db.$count(executions, eq(executions.status, 'running')), 1);
  });

  t.test(`One of 200 concurrent tasks is created one below the limit (${round})`, async (t) => {
    await insertTasks(
      ctx,
      Array.from({ length: 9 }, () => alice().id),
    );
    const { passed, rejected } = await race(() => createTask(ctx, alice(), TASK as Parameters<typeof createTask>[2]));
    t.equal(passed, 1);
    t.same(rejected, by('activeTasks', 10));
    t.equal(await ctx.db.$count(tasks, eq(tasks.status, 'active')), 10);
  });

  t.test(`One of 200 concurrent webhooks is created one below the limit (${round})`, async (t) => {
    const make = () => createWebhook(ctx, alice(), { url: 'https://hooks.example.com/', events: ['task.completed'] });
    await make();
    await make();
    const { passed, rejected } = await race(make);
    t.equal(passed, 1);
    t.same(rejected, by('webhooks', 3));
    t.equal(await ctx.db.$count(endpoints), 3);
  });
}

t.test('The call that got the last token leaves the others rejected, and nothing reserved', async (t) => {
  await insertUsage(ctx, alice().id, { tokens: 99_999 });
  const made = await insertTasks(
    ctx,
    Array.from({ length: CALLS }, () => alice().id),
    { nextExecutionAt: null },
  );
  await insertQueuedRuns(ctx, made);
  await newWorker(t).drain();
  t.equal(await ctx.db.$count(executions, eq(executions.status, 'completed')), 1);
  t.equal(await ctx.db.$count(executions, eq(executions.errorCode, 'QUOTA_EXCEEDED')), CALLS - 1);
  t.match(await readUsage(ctx, alice().id), { executions: 1, tokensReserved: 0 });
});
