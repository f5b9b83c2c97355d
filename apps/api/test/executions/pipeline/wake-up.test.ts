import { sql } from 'drizzle-orm';
import t from 'tap';
import { untilBlocked } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { insertQueuedRuns, insertTask, insertUsers, readRun } from '../../support/task-rows.ts';

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
