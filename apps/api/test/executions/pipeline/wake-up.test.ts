import { setImmediate } from 'node:timers/promises';
import { executions } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { untilBlocked } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { insertQueuedRuns, insertTask, insertUsers, readRun } from '../../support/task-rows.ts';
import { until } from '../../support/until.ts';

const { ctx, ai, alice, newWorker } = await testEngine(t);

t.test('A wake-up during a completion starts what it announces without a poll', async (t) => {
  const [bob] = (await insertUsers(ctx, 1)) as [number];
  const [first, second] = [await insertTask(ctx, alice().id), await insertTask(ctx, bob)];
  await insertQueuedRuns(ctx, [first]);
  const worker = newWorker(t);
  const secondCall = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  ai.answer(async () => {
    if (ai.requests.length > 1) secondCall.resolve();
    else {
      called.resolve();
      await answer.promise;
    }
    return {};
  });
  worker.wakeExecutions();
  await called.promise;
  await ctx.db.transaction(async (tx) => {
    await tx.execute(sql`select from usage_counters where user_id = ${alice().id} for update`);
    answer.resolve();
    // The completion waits for the counters of Alice.
    await untilBlocked(ctx.db);
    await insertQueuedRuns(ctx, [second]);
    worker.wakeExecutions();
  });
  await secondCall.promise;
  await worker.drain();
  t.match([await readRun(ctx, first), await readRun(ctx, second)], [{ status: 'completed' }, { status: 'completed' }]);
});

t.test('The end of an execution makes a claim only if another one waits', async (t) => {
  const task = await insertTask(ctx, alice().id);
  // The second waits for the first: a task has one at a time.
  for (let n = 0; n < 2; n++) await insertQueuedRuns(ctx, [task]);
  let claims = 0;
  const executionsClaimed = () => {
    claims += 1;
  };
  const begun: unknown[] = [];
  const detached = <T>(work: () => T) => {
    const result = work();
    begun.push(result);
    return result;
  };
  const worker = newWorker(t, {
    metrics: { ...ctx.metrics, executionsClaimed },
    trace: { ...ctx.trace, detached },
  });
  worker.wakeExecutions();
  await until(async () => (await ctx.db.$count(executions, eq(executions.status, 'completed'))) === 2);
  // What ends may add to the list.
  for (const one of begun) {
    await one;
    await setImmediate();
  }
  t.equal(claims, 2);
});
