import { executions, tasks } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { AppError } from '../../../src/errors.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { rescueExecutions } from '../../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { deleteTask } from '../../../src/product/tasks/delete.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { recordDeadlocks } from '../../support/database.ts';
import { buildCaller, testEngine } from '../../support/engine.ts';
import { passTime } from '../../support/leases.ts';
import { insertTasks, insertUsers } from '../../support/task-rows.ts';

const { ctx, ai, clock, newProcess } = await testEngine(t, { EXECUTION_RETRY_DELAYS_MS: '1000,2000' });

/** The same numbers in every run of the tests. */
function dice(seed: number) {
  let state = seed;
  return (sides: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

t.test('Usage balances and every execution ends although everything happens at once, over midnight too', async (t) => {
  clock.set('2026-11-30T23:57:00.000Z');
  const roll = dice(7);
  const people = await insertUsers(ctx, 8, 'trial');
  const owners = Array.from({ length: 60 }, (_, at) => people[at % 8] as number);
  const made = await insertTasks(ctx, owners, { recurrencePattern: '* * * * *' });
  const answers = [{}, {}, {}, { status: 503 }, { status: 400 }, { reset: true }, { usage: null }] as const;
  ai.answer(() => answers[roll(answers.length)] ?? {});
  const processes = Array.from({ length: 3 }, () => newProcess(t));
  const deadlocks = processes.map((process) => recordDeadlocks(process.ctx));

  async function disturb(ctx: (typeof processes)[number]['ctx']) {
    const at = roll(60);
    const caller = buildCaller(owners[at] as number);
    const task = made[at] as number;
    const deeds = [
      () => executeTask(ctx, caller, task),
      () => executeTask(ctx, caller, task),
      () => changeTask(ctx, caller, task, { status: roll(2) ? 'paused' : 'active' }),
      () => enqueueDue(ctx),
      () => rescueExecutions(ctx),
      // Claims as a process that dies at once.
      () => (roll(4) ? null : pipeline.claim(ctx, { limit: 3, after: roll(3) ? 0 : (people[4] as number) })),
      () => (roll(6) ? null : deleteTask(ctx, caller, task)),
    ];
    try {
      await deeds[roll(deeds.length)]?.();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }

  for (let round = 0; round < 12; round += 1) {
    const deeds = processes.flatMap((process) => Array.from({ length: 12 }, () => disturb(process.ctx)));
    await Promise.all([...deeds, ...processes.map(({ worker }) => worker.drain())]);
    // The last deeds may have woken the workers again.
    await Promise.all(processes.map(({ worker }) => worker.drain()));
    await passTime({ ctx, clock }, 31_000);
  }

  await ctx.db.update(tasks).set({ status: 'paused', nextExecutionAt: null });
  const isLive = sql`${executions.status} in ('pending', 'running')`;
  for (let round = 0; round < 8 && (await ctx.db.$count(executions, isLive)) > 0; round += 1) {
    await passTime({ ctx, clock }, 31_000);
    await rescueExecutions(ctx);
    await enqueueDue(ctx);
    await Promise.all(processes.map(({ worker }) => worker.drain()));
  }
  t.equal(await ctx.db.$count(executions, isLive), 0);
  t.ok((await ctx.db.$count(executions, eq(executions.status, 'completed'))) > 50);
  t.strictSame(deadlocks.flat(), []);
});
