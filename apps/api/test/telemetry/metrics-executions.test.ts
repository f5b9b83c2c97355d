import { settings, usageRecords } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { createInstruments } from '../../src/lib/telemetry/instruments.ts';
import { completeExecutions } from '../../src/product/executions/pipeline/complete.ts';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { rescueExecutions } from '../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { executeTask } from '../../src/product/executions/start.ts';
import { inTransaction } from '../../src/transaction.ts';
import { testEngine } from '../support/engine.ts';
import { buildResult } from '../support/executions.ts';
import { passTime } from '../support/leases.ts';
import { readRegistry, type Scrape } from '../support/metrics/scrape.ts';
import { insertTask } from '../support/task-rows.ts';

const { ctx, ai, clock, alice, newWorker } = await testEngine(t);
let instruments = createInstruments();
t.beforeEach(async () => {
  instruments = createInstruments();
  ctx.metrics = instruments;
});
const readMetrics = () => readRegistry(instruments.registry);

const LATENESS = 'carillon_execution_start_lateness_seconds';
/** Number of starts under a trigger, and the sum of their lateness. */
function readStarts(scrape: Scrape, trigger: string) {
  return [scrape.value(`${LATENESS}_count`, { trigger }), scrape.value(`${LATENESS}_sum`, { trigger })];
}
const readEnded = (scrape: Scrape, outcome: string, error_code: string) =>
  scrape.value('carillon_executions_total', { outcome, error_code });

t.test('Lateness counts from the planned instant, the request or the end of the retry wait', async (t) => {
  const task = await insertTask(ctx, alice().id);
  clock.advance(3000);
  await enqueueDue(ctx);
  clock.advance(250);
  await newWorker(t).drain();
  await executeTask(ctx, alice(), task);
  clock.advance(40);
  ai.answer(() => ({ status: 503 }));
  await newWorker(t).drain();
  clock.advance(60_000 + 700);
  await enqueueDue(ctx);
  await newWorker(t).drain();

  const scrape = await readMetrics();
  t.same(readStarts(scrape, 'schedule'), [1, 3.25]);
  t.same(readStarts(scrape, 'manual'), [1, 0.04]);
  t.same(readStarts(scrape, 'retry'), [1, 0.7], 'the retry wait does not count');
  const upTo = (le: string) => scrape.value(`${LATENESS}_bucket`, { trigger: 'schedule', le });
  t.same([upTo('2.5'), upTo('5'), upTo('3600'), upTo('+Inf')], [0, 1, 1, 1]);
});

t.test('An ended execution counts under its outcome, with duration, tokens and cost', async (t) => {
  ai.answer(({ body }) =>
    body.model === 'bad'
      ? { status: 400, body: { error: { message: 'No such role' } } }
      : { usage: { promptTokens: 120, completionTokens: 34, cost: 0.25 } },
  );
  for (const aiModel of ['good', 'good', 'bad']) await insertTask(ctx, alice().id, { aiModel });
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const scrape = await readMetrics();
  t.equal(readEnded(scrape, 'completed', 'none'), 2);
  t.equal(readEnded(scrape, 'failed', 'INVALID_REQUEST'), 1);
  t.equal(
    readEnded(scrape, 'failed', 'TIMEOUT'),
    0,
    'each error code has a series from the start, so that rate() sees its first event',
  );
  t.equal(scrape.value('carillon_execution_duration_seconds_count', { outcome: 'completed' }), 2);
  t.equal(scrape.value('carillon_execution_duration_seconds_count', { outcome: 'failed' }), 1);
  t.equal(scrape.value('carillon_tokens_total', { direction: 'input', estimated: 'false' }), 240);
  t.equal(scrape.value('carillon_tokens_total', { direction: 'output', estimated: 'false' }), 68);
  t.equal(scrape.value('carillon_cost_usd_total'), 0.5);
});

t.test('Tokens equal those of the usage ledger, estimated ones separately', async (t) => {
  ai.answer((_request, index) => (index % 2 === 0 ? { usage: null } : {}));
  for (let i = 0; i < 4; i++) await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const scrape = await readMetrics();
  for (const estimated of [true, false]) {
    const records = await ctx.db.select().from(usageRecords).where(eq(usageRecords.estimated, estimated));
    t.ok(records.length > 0);
    for (const [direction, field] of [
      ['input', 'inputTokens'],
      ['output', 'outputTokens'],
    ] as const) {
      const sum = records.reduce((sum, record) => sum + record[field], 0);
      t.equal(scrape.value('carillon_tokens_total', { direction, estimated: `${estimated}` }), sum);
    }
  }
});

t.test('An execution over quota ends without a start', async (t) => {
  await ctx.db.update(settings).set({ maxExecutionsPerDay: 1 });
  for (let i = 0; i < 3; i++) await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const scrape = await readMetrics();
  t.equal(readEnded(scrape, 'completed', 'none'), 1);
  t.equal(readEnded(scrape, 'failed', 'QUOTA_EXCEEDED'), 2);
  t.equal(readStarts(scrape, 'schedule')[0], 1);
  t.equal(scrape.value('carillon_execution_duration_seconds_count', { outcome: 'failed' }), undefined);
});

t.test('A rolled back start and a completion after the lease was lost do not count', async (t) => {
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const rollback = new Error('rolled back');
  const before = await readMetrics();
  const attempted = inTransaction(ctx, async (tx) => {
    await pipeline.claim(tx, { limit: 1, after: 0 });
    throw rollback;
  });
  await t.rejects(attempted, rollback);
  t.same(readStarts(await readMetrics(), 'schedule'), readStarts(before, 'schedule'), 'a start');

  const { started } = await pipeline.claim(ctx, { limit: 1, after: 0 });
  const usage = { model: 'x', inputTokens: 7, outputTokens: 5, estimated: false, costUsd: 1 };
  const [run] = started.map((claimed) => buildResult(claimed, { usage }));
  if (!run) return t.fail();
  const rolledBack = inTransaction(ctx, async (tx) => {
    t.same(await completeExecutions(tx, [run]), [run.id]);
    throw rollback;
  });
  await t.rejects(rolledBack, rollback);
  await passTime({ ctx, clock }, ctx.config.executionLeaseMs + 1);
  await rescueExecutions(ctx);
  t.same(await inTransaction(ctx, (tx) => completeExecutions(tx, [run])), [], 'the lease is lost');
  const scrape = await readMetrics();
  t.equal(readEnded(scrape, 'completed', 'none'), 0);
  t.equal(scrape.value('carillon_cost_usd_total'), 0);
});

t.test(
  'An execution of a dead process is taken over once, with its prompt estimated and without a second start',
  async (t) => {
    await insertTask(ctx, alice().id, { prompt: 'x'.repeat(400) });
    await enqueueDue(ctx);
    const { started } = await pipeline.claim(ctx, { limit: 1, after: 0 });
    const sent = `${started[0]?.request.system}${started[0]?.request.prompt}`;
    await passTime({ ctx, clock }, ctx.config.executionLeaseMs + 1);
    t.equal((await rescueExecutions(ctx)).length, 1);
    t.equal((await rescueExecutions(ctx)).length, 0);
    await newWorker(t).drain();
    const scrape = await readMetrics();
    t.equal(scrape.value('carillon_claims_taken_over_total', { kind: 'executions' }), 1);
    t.equal(
      scrape.value('carillon_tokens_total', { direction: 'input', estimated: 'true' }),
      Math.ceil(sent.length / 4),
    );
    t.equal(readStarts(scrape, 'schedule')[0], 1);
    t.equal(readEnded(scrape, 'completed', 'none'), 1);
  },
);

t.test('Running executions are counted', async (t) => {
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  ai.answer(() => asked.then(() => ({})));
  for (let i = 0; i < 3; i++) await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const worker = newWorker(t);
  worker.wakeExecutions();
  while (ai.requests.length < 3) await new Promise((resolve) => setImmediate(resolve));
  t.equal((await readMetrics()).value('carillon_executions_in_flight'), 3);
  answer();
  await worker.drain();
  t.equal((await readMetrics()).value('carillon_executions_in_flight'), 0);
});
