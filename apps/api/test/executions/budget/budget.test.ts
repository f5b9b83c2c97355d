import { notifications } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import t from 'tap';
import { getHighestUsage } from '../../../src/lib/ai/web-tools/tool-limits.ts';
import type { Budget } from '../../../src/product/executions/budget/budget.ts';
import { loadHighestCost } from '../../../src/product/executions/budget/costs.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { backfillTask, executeTask, retryExecution } from '../../../src/product/executions/start.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import { signUp } from '../../support/people.ts';
import {
  insertQueuedRuns,
  insertTask,
  PROMPT,
  readLedger,
  readRuns,
  readTaskRow,
  readUsage,
} from '../../support/task-rows.ts';

const { app, ctx, ai, clock, alice, newWorker, newProcess, runDue } = await testEngine(t, {
  AI_WEB_TOOLS: 'openrouter',
});

/** 15 cents per million tokens of input, 60 of output. */
const MODEL = 'gpt-4o-mini';
const MAX_TOKENS = 1000;
const budget: Budget = {
  limitUsd: 0,
  month: null,
  spentUsd: 0,
  models: [MODEL],
  hasOutcomeCall: false,
  maxTokens: MAX_TOKENS,
  promptBytes: PROMPT.length,
  textBytes: 0,
  files: 0,
  schemaBytes: null,
  tools: [],
  maxToolUses: 5,
};
const HIGHEST = (await loadHighestCost(ctx, [budget]))(budget);

const insert = (monthlyBudgetUsd: number | null, values: Parameters<typeof insertTask>[2] = {}) =>
  insertTask(ctx, alice().id, {
    aiModel: MODEL,
    maxTokens: MAX_TOKENS,
    monthlyBudgetUsd,
    context: { clock: false, previousResult: false },
    ...values,
  });
/** The most that a run may use. */
const useAll = () => ai.answer(() => ({ usage: { promptTokens: PROMPT.length, completionTokens: MAX_TOKENS } }));
const listNotices = async (kind = 'task.over_budget') =>
  (
    await ctx.db
      .select()
      .from(notifications)
      .where(and(eq(notifications.userId, alice().id), eq(notifications.kind, kind)))
  ).map(({ title }) => title);
const runEachDay = async (t: Parameters<typeof runDue>[0], days: number[]) => {
  for (const day of days) {
    clock.set(`2026-11-${day}T10:00:00.000Z`);
    await runDue(t);
  }
};
const statesOf = async (id: number) => (await readRuns(ctx, id)).map(({ status, errorCode }) => errorCode ?? status);
const fatesOf = async (id: number) => (await readLedger(ctx, id)).map(([, fate]) => fate);

t.test('The highest cost of a run counts a token for each byte, and a second call with a schema', async (t) => {
  const highest = await loadHighestCost(ctx, [budget]);
  t.equal(HIGHEST, Number((((500 + PROMPT.length) * 0.15 + MAX_TOKENS * 0.6) / 1e6).toFixed(12)));
  t.ok(highest({ ...budget, schemaBytes: 100 }) > 2 * HIGHEST);
  t.ok(highest({ ...budget, textBytes: 1000 }) > HIGHEST && highest({ ...budget, files: 1 }) > HIGHEST);
  t.equal(highest({ ...budget, models: ['a-model-without-a-price'] }), 0);
});

t.test('The highest cost of a run counts its tools as often as they may be used', async (t) => {
  const highest = await loadHighestCost(ctx, [budget]);
  const withTools = { ...budget, tools: ['web_search'] as const };
  const { inputTokens, outputTokens, toolCostUsd } = getHighestUsage({
    ...withTools,
    inputTokens: 500 + PROMPT.length,
  });
  const cost = (inputTokens * 0.15 + outputTokens * 0.6) / 1e6 + toolCostUsd;
  t.ok(Math.abs(highest(withTools) - cost) < 1e-12);
  t.ok(toolCostUsd >= 0.05 && highest({ ...withTools, maxToolUses: 6 }) > highest(withTools));
  const schemaBytes = 100;
  const repair = highest({ ...budget, schemaBytes }) - highest(budget);
  const repaired = highest({ ...withTools, schemaBytes }) - highest(withTools);
  t.ok(repaired < 10 * repair, 'the second call has no tools');

  const context = { clock: false, previousResult: false };
  const enough = await insert(cost + 1e-3, { tools: ['web_search'], context });
  const tooLittle = await insert(cost - 1e-3, { tools: ['web_search'], context });
  await runDue(t);
  t.same([await statesOf(enough), await fatesOf(tooLittle)], [['completed'], ['over_budget']]);
});

t.test('A run starts if the most that it can cost is just within the budget, and not if it is more', async (t) => {
  const within = await insert(HIGHEST);
  const beyond = await insert(HIGHEST - 1e-9);
  await runDue(t);
  t.same([await statesOf(within), await fatesOf(within)], [['completed'], ['ran']]);
  t.same([await statesOf(beyond), await fatesOf(beyond)], [[], ['over_budget']]);
});

t.test(
  'A planned run over budget leaves a row in the ledger and neither an execution, a failure nor usage',
  async (t) => {
    useAll();
    const id = await insert(2.5 * HIGHEST);
    await runEachDay(t, [20, 21, 22, 23, 24]);
    t.same(await fatesOf(id), ['ran', 'ran', 'over_budget', 'over_budget', 'over_budget']);
    t.same(await statesOf(id), ['completed', 'completed']);
    const row = await readTaskRow(ctx, id);
    t.match(row, { status: 'active', consecutiveFailures: 0, costMonth: '2026-11' });
    t.ok(row.monthCostUsd <= 2.5 * HIGHEST);
    t.match(await readUsage(ctx, alice().id, '2026-11'), { executions: 2 });
    t.same(await listNotices(), ['Task "Task 0" has reached its monthly budget'], 'once, by the run that reached it');
  },
);

t.test('What the context adds is known before a planned run is queued, so that none fails at its start', async (t) => {
  const text = 'A long answer. '.repeat(400);
  ai.answer(() => ({ text, usage: { promptTokens: PROMPT.length, completionTokens: 10 } }));
  const values = { name: 'x'.repeat(100), prompt: 'What is new on {{date}}, {{weekday}}? Before: {{previous_result}}' };
  const context = { clock: true, previousResult: true };
  const outputs: string[][] = [];
  for (let budget = HIGHEST; budget < 5 * HIGHEST; budget += HIGHEST / 4) {
    clock.set('2026-11-20T10:00:00.000Z');
    const id = await insert(budget, { ...values, context });
    await runEachDay(t, [20, 21, 22]);
    outputs.push(await statesOf(id));
  }
  t.notOk(outputs.flat().includes('QUOTA_EXCEEDED'));
  t.ok(outputs.some((states) => states.length === 0) && outputs.some((states) => states.length === 3));
});

t.test('A budget begins anew with the month in UTC', async (t) => {
  useAll();
  const id = await insert(1.5 * HIGHEST, { nextExecutionAt: new Date('2026-11-30T10:00:00Z') });
  clock.set('2026-11-30T10:00:00.000Z');
  await runDue(t);
  const asks = (at: string) => {
    clock.set(at);
    return executeTask(ctx, alice(), id).then(
      () => 'queued',
      ({ details }) => details,
    );
  };
  const { monthCostUsd: used } = await readTaskRow(ctx, id);
  t.same(await asks('2026-11-30T23:59:59.999Z'), {
    resource: 'monthlyBudgetUsd',
    used,
    limit: 1.5 * HIGHEST,
    resetAt: '2026-12-01T00:00:00.000Z',
  });
  t.equal(await asks('2026-12-01T00:00:00.000Z'), 'queued');
  await newWorker(t).drain();
  t.match(await readTaskRow(ctx, id), { costMonth: '2026-12', monthCostUsd: used });
});

t.test('A run that starts before the month ends counts for that month', async (t) => {
  const id = await insert(10 * HIGHEST, { nextExecutionAt: null });
  clock.set('2026-11-30T23:59:59.000Z');
  await executeTask(ctx, alice(), id);
  ai.answer(() => {
    clock.set('2026-12-01T00:00:01.000Z');
    return {};
  });
  await newWorker(t).drain();
  const november = await readTaskRow(ctx, id);
  t.match(november, { costMonth: '2026-11' });
  t.ok(november.monthCostUsd > 0);
  ai.answer(() => ({}));
  await executeTask(ctx, alice(), id);
  await newWorker(t).drain();
  t.match(await readTaskRow(ctx, id), { costMonth: '2026-12', monthCostUsd: november.monthCostUsd });
});

t.test('A model without a price runs until its budget is used up, and is refused then', async (t) => {
  ai.answer(() => ({ usage: { promptTokens: 10, completionTokens: 10, cost: 0.4 } }));
  const id = await insert(1, { aiModel: 'a-model-without-a-price' });
  await runEachDay(t, [20, 21, 22, 23]);
  t.same(await fatesOf(id), ['ran', 'ran', 'ran', 'over_budget']);
  t.equal((await listNotices()).length, 1);
  const free = await insert(0, { aiModel: 'a-model-without-a-price', nextExecutionAt: null });
  t.match(await executeTask(ctx, alice(), free).catch((error) => error.details), {
    resource: 'monthlyBudgetUsd',
    used: 0,
  });
});

t.test('Runs on demand, by a webhook and retries over budget are refused with 402, without usage', async (t) => {
  useAll();
  const id = await insert(1.5 * HIGHEST, { nextExecutionAt: null });
  ai.answer(() => ({ status: 400, body: { error: { message: 'No.' } } }));
  const failed = await executeTask(ctx, alice(), id);
  await newWorker(t).drain();
  useAll();
  await executeTask(ctx, alice(), id);
  await newWorker(t).drain();
  const before = await readUsage(ctx, alice().id, '2026-11');
  for (const ask of [
    () => executeTask(ctx, alice(), id),
    () => executeTask(ctx, alice(), id, 'inbound'),
    () => retryExecution(ctx, alice(), failed.executionId),
  ]) {
    t.match(await ask().catch((error) => error), {
      kind: 'over_quota',
      details: { resource: 'monthlyBudgetUsd', limit: 1.5 * HIGHEST, resetAt: '2026-12-01T00:00:00.000Z' },
    });
  }
  t.same(await readUsage(ctx, alice().id, '2026-11'), before);
});

t.test('An execution over budget is 402 by HTTP', async (t) => {
  const { headers, id: userId } = await signUp(app);
  const id = await insertTask(ctx, userId, { aiModel: MODEL, monthlyBudgetUsd: 0.0001, nextExecutionAt: null });
  const answer = await app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers });
  t.equal(answer.statusCode, 402);
  t.match(answer.json(), {
    details: { resource: 'monthlyBudgetUsd', used: 0, limit: 0.0001, resetAt: '2026-12-01T00:00:00.000Z' },
  });
});

t.test('Runs that are filled in are refused with 402 unless the budget covers all of them', async (t) => {
  useAll();
  const id = await insert(2 * HIGHEST, { nextExecutionAt: new Date('2026-11-24T10:00:00Z') });
  clock.set('2026-11-23T12:00:00.000Z');
  const fill = (to: string) => backfillTask(ctx, alice(), id, { from: '2026-11-20T00:00:00Z', to });
  t.match(await fill('2026-11-22T12:00:00Z').catch((error) => error.details), {
    resource: 'monthlyBudgetUsd',
    used: 0,
  });
  t.equal(await fill('2026-11-21T12:00:00Z'), 2);
  await newWorker(t).drain();
  t.same(await statesOf(id), ['completed', 'completed']);
});

t.test('Of two processes that start the two runs of a task whose budget admits one, one starts one', async (t) => {
  const ids = await Promise.all(Array.from({ length: 5 }, () => insert(1.5 * HIGHEST, { nextExecutionAt: null })));
  await insertQueuedRuns(ctx, ids);
  await insertQueuedRuns(ctx, ids);
  useAll();
  const processes = [newProcess(t), newProcess(t)];
  await Promise.all(processes.map(({ worker }) => worker.drain()));
  for (const id of ids) {
    t.same((await statesOf(id)).sort(), ['QUOTA_EXCEEDED', 'completed']);
    t.ok((await readTaskRow(ctx, id)).monthCostUsd <= 1.5 * HIGHEST);
  }
  t.match(await readUsage(ctx, alice().id, '2026-11'), { executions: 5, tokensReserved: 0 });
});

t.test('A run in the slot of one that ends is refused by what that one has cost', async (t) => {
  const id = await insert(1.5 * HIGHEST, { nextExecutionAt: null });
  await insertQueuedRuns(ctx, [id]);
  await insertQueuedRuns(ctx, [id]);
  const [run] = (await pipeline.claim(ctx, { limit: 10, after: 0 })).started;
  const usage = { model: MODEL, inputTokens: 10, outputTokens: MAX_TOKENS, estimated: false, costUsd: 0.9 * HIGHEST };
  const result = buildResult(run as NonNullable<typeof run>, { usage });
  await pipeline.complete(ctx, [result], new AbortController().signal);
  t.match(await pipeline.claim(ctx, { limit: 10, after: 0 }), { started: [], refused: 1 });
  t.same(await statesOf(id), ['completed', 'QUOTA_EXCEEDED']);
  t.match(await readTaskRow(ctx, id), { consecutiveFailures: 0, status: 'active' });
});

t.test('A planned run that is refused at its start is over budget in the ledger and no failure in a row', async (t) => {
  useAll();
  const id = await insert(1.5 * HIGHEST);
  await enqueueDue(ctx);
  await insertQueuedRuns(ctx, [id]);
  clock.advance(1);
  await changeTask(ctx, alice(), id, { monthlyBudgetUsd: 0.5 * HIGHEST });
  await newWorker(t).drain();
  t.same(await fatesOf(id), ['over_budget']);
  t.same(await statesOf(id), ['QUOTA_EXCEEDED', 'QUOTA_EXCEEDED']);
  t.match(await readTaskRow(ctx, id), { consecutiveFailures: 0, status: 'active' });
  t.match(await readUsage(ctx, alice().id, '2026-11'), { executions: 0 });
  t.equal((await listNotices()).length, 1);
  t.equal(ai.requests.length, 0);
});

t.test('A changed budget decides the next start', async (t) => {
  useAll();
  const id = await insert(HIGHEST / 2);
  await runEachDay(t, [20]);
  await changeTask(ctx, alice(), id, { monthlyBudgetUsd: 2 * HIGHEST });
  await runEachDay(t, [21]);
  await changeTask(ctx, alice(), id, { monthlyBudgetUsd: HIGHEST });
  await runEachDay(t, [22]);
  await changeTask(ctx, alice(), id, { monthlyBudgetUsd: null });
  await runEachDay(t, [23]);
  t.same(await fatesOf(id), ['over_budget', 'ran', 'over_budget', 'ran']);
});

t.test('A budget that does not cover one run is reported once a month', async (t) => {
  const id = await insert(HIGHEST / 2);
  await runEachDay(t, [20, 21, 22]);
  t.equal((await listNotices()).length, 1);
  clock.set('2026-12-01T10:00:00.000Z');
  await Promise.all([newProcess(t), newProcess(t)].map(({ ctx }) => enqueueDue(ctx)));
  t.equal((await listNotices()).length, 2);
  t.same(await statesOf(id), []);
});

t.test('A task that runs once fails if its run is over budget, and says why', async (t) => {
  const id = await insert(HIGHEST / 2, { recurrence: 'once' });
  await runDue(t);
  t.same([await statesOf(id), await fatesOf(id)], [['QUOTA_EXCEEDED'], ['over_budget']]);
  t.match(await readTaskRow(ctx, id), { status: 'failed' });
  t.match((await readRuns(ctx, id))[0], { error: /monthlyBudgetUsd/ });
});

t.test('A run without a budget is not held up by those of others, and a budget by no other task', async (t) => {
  useAll();
  const [over, other, free] = [await insert(HIGHEST / 2), await insert(HIGHEST), await insert(null)];
  await runDue(t);
  t.same([await fatesOf(over), await fatesOf(other), await fatesOf(free)], [['over_budget'], ['ran'], ['ran']]);
});
