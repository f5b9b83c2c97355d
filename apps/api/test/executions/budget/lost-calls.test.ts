import { usageCounters, usageRecords } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import t from 'tap';
import { cancelExecution } from '../../../src/product/executions/cancel.ts';
import { rescueExecutions } from '../../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { deleteTask } from '../../../src/product/tasks/delete.ts';
import { testEngine } from '../../support/engine.ts';
import { passTime } from '../../support/leases.ts';
import { insertQueuedRuns, insertTask, PROMPT, readTaskRow } from '../../support/task-rows.ts';

const { ctx, clock, alice } = await testEngine(t);

/** 15 cents per million tokens of input; the estimate is four characters per token. */
const INPUT_COST = Number(((Math.ceil(PROMPT.length / 4) * 0.15) / 1e6).toFixed(12));

/** A run that a process has started and that is lost without a report of its usage. */
async function startRun(): Promise<{ taskId: number; executionId: number }> {
  const context = { clock: false, previousResult: false };
  const taskId = await insertTask(ctx, alice().id, { aiModel: 'gpt-4o-mini', nextExecutionAt: null, context });
  await insertQueuedRuns(ctx, [taskId]);
  const [run] = (await pipeline.claim(ctx, { limit: 10, after: 0 })).started;
  return { taskId, executionId: run?.id as number };
}

async function readCosts() {
  const records = await ctx.db.select().from(usageRecords).where(eq(usageRecords.userId, alice().id));
  const [month] = await ctx.db
    .select()
    .from(usageCounters)
    .where(and(eq(usageCounters.userId, alice().id), eq(usageCounters.period, '2026-11')));
  return { recorded: records.map(({ costUsd }) => costUsd), counted: month?.costUsd };
}

t.test('A cancelled run costs its input, also of the budget of its task', async (t) => {
  const { taskId, executionId } = await startRun();
  await cancelExecution(ctx, alice(), executionId);
  t.same(await readCosts(), { recorded: [INPUT_COST], counted: INPUT_COST });
  t.match(await readTaskRow(ctx, taskId), { costMonth: '2026-11', monthCostUsd: INPUT_COST });
});

t.test('An interrupted run costs its input for each interruption, also of the budget of its task', async (t) => {
  const { taskId } = await startRun();
  for (let interruptions = 1; interruptions <= 4; interruptions += 1) {
    await passTime({ ctx, clock }, ctx.config.executionLeaseMs + 1000);
    await rescueExecutions(ctx);
    await pipeline.claim(ctx, { limit: 10, after: 0 });
    const { recorded, counted } = await readCosts();
    t.same(recorded, Array(interruptions).fill(INPUT_COST));
    t.ok(Math.abs((counted ?? 0) - interruptions * INPUT_COST) < 1e-12);
    t.ok(Math.abs((await readTaskRow(ctx, taskId)).monthCostUsd - interruptions * INPUT_COST) < 1e-12);
  }
});

t.test('A run whose task is deleted costs its input', async (t) => {
  const { taskId } = await startRun();
  await deleteTask(ctx, alice(), taskId);
  t.same(await readCosts(), { recorded: [INPUT_COST], counted: INPUT_COST });
});
