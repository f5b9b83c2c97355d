import { executions, usageRecords } from '@carillon/db';
import { asc } from 'drizzle-orm';
import t from 'tap';
import type { Ai, AiOutcome } from '../../../src/lib/ai/client.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { countStorable } from '../../../src/product/executions/pipeline/store-results.ts';
import { connectionLost, type Interfere, interruptTransactions } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import { insertTask, insertTasks, readRun } from '../../support/task-rows.ts';

const { ctx, ai, alice, newProcess, newWorker, logged } = await testEngine(t);

const USAGE = { model: 'test-model', inputTokens: 3, outputTokens: 4, estimated: false, costUsd: 0.01 };
const GOOD: AiOutcome = { ok: true, text: 'Fine.', usage: USAGE, durationMs: 5 };

/** An AI that returns these outcomes in order, unchecked. */
function fakeAi(...outcomes: AiOutcome[]): Ai {
  return { ask: async () => outcomes.shift() ?? GOOD, close: async () => {} };
}

const unreliable = (interfere: Interfere) => interruptTransactions(ctx.db, interfere);

const poisons: [string, AiOutcome][] = [
  ['a NUL character', { ...GOOD, text: 'a\u0000b' }],
  ['a lone surrogate', { ...GOOD, text: 'a\ud800b' }],
  [
    'a NUL in its error',
    { ...GOOD, ok: false, errorCode: 'PROVIDER_ERROR', message: '\u0000', retryable: false, retryAfterMs: null },
  ],
];
for (const [what, poison] of poisons) {
  t.test(`A result with ${what} fails only its own execution, once, and is billed`, async (t) => {
    const made = await insertTasks(ctx, [alice().id, alice().id, alice().id, alice().id]);
    await enqueueDue(ctx);
    await newWorker(t, { ai: fakeAi(GOOD, poison, GOOD, GOOD) }).drain();
    const runs = await ctx.db.select().from(executions).orderBy(asc(executions.status), asc(executions.id));
    t.equal(runs.length, made.length);
    t.match(runs, [
      { status: 'completed', result: 'Fine.' },
      { status: 'completed' },
      { status: 'completed' },
      { status: 'failed', errorCode: 'PROVIDER_ERROR', error: 'The answer of the provider could not be stored.' },
    ]);
    t.match(runs[3], { inputTokens: 3, outputTokens: 4, costUsd: 0.01 });
  });
}

t.test('A usage that cannot be stored fails its execution without usage', async (t) => {
  for (const usage of [
    { ...USAGE, model: '\u0000' },
    { ...USAGE, inputTokens: 2 ** 40 },
    { ...USAGE, costUsd: Number.NaN },
  ]) {
    const task = await insertTask(ctx, alice().id);
    await enqueueDue(ctx);
    await newWorker(t, { ai: fakeAi({ ...GOOD, usage }) }).drain();
    t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'PROVIDER_ERROR', inputTokens: null });
  }
});

t.test('A bug in one result is not retried for ever, and the others are stored', async (t) => {
  const [broken, ...others] = await insertTasks(ctx, [alice().id, alice().id, alice().id]);
  await enqueueDue(ctx);
  const unwritable = { ...GOOD, text: 1n as unknown as string };
  await newWorker(t, { ai: fakeAi(unwritable) }).drain();
  t.match(await readRun(ctx, broken!), { status: 'failed', errorCode: 'PROVIDER_ERROR' });
  for (const task of others) t.match(await readRun(ctx, task), { status: 'completed' });
});

t.test('An execution that cannot be completed at all is left to its lease, and the others are stored', async (t) => {
  const [stuck, ...others] = await insertTasks(ctx, [alice().id, alice().id, alice().id]);
  await enqueueDue(ctx);
  await ctx.db.execute(`alter table executions add constraint never check (task_id <> ${stuck} or status <> 'failed')`);
  await newWorker(t, { ai: fakeAi(poisons[0]![1]) }).drain();
  t.match(await readRun(ctx, stuck!), { status: 'running' });
  for (const task of others) t.match(await readRun(ctx, task), { status: 'completed' });
  await ctx.db.execute('alter table executions drop constraint never');
});

t.test('A transaction stores 200 results or a million characters, and at least one result', (t) => {
  const results = (count: number, length: number) =>
    Array.from({ length: count }, (_, id) => buildResult({ id, claimToken: '' }, { text: 'x'.repeat(length) }));
  t.equal(countStorable([]), 0);
  t.equal(countStorable(results(201, 1)), 200);
  t.equal(countStorable(results(5, 450_000)), 2);
  t.equal(countStorable(results(5, 2_000_000)), 1);
  t.end();
});

t.test('A result is stored when the database is back, and the model is not asked again', async (t) => {
  let lost = 2;
  const { db, state } = unreliable(async (transact) => {
    if (lost-- > 0) throw connectionLost();
    return transact();
  });
  ai.answer(() => {
    state.armed = true;
    return {};
  });
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t, { db }).drain();
  t.match(await readRun(ctx, task), { status: 'completed' });
  t.equal(ai.requests.length, 1);
  t.equal(logged.filter(({ msg }) => msg === 'storing results failed').length, 2);
});

t.test('A commit whose answer was lost is not made twice', async (t) => {
  let lost = 1;
  const { db, state } = unreliable(async (transact) => {
    const result = await transact();
    if (lost-- > 0) throw connectionLost();
    return result;
  });
  ai.answer(() => {
    state.armed = true;
    return {};
  });
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t, { db }).drain();
  t.match(await readRun(ctx, task), { status: 'completed' });
  t.equal(await ctx.db.$count(usageRecords), 1);
});

t.test('Losing every connection during executions loses no result', async (t) => {
  const other = newProcess(t);
  ai.answer(async () => {
    if (ai.requests.length > 1) return {};
    await other.ctx.db.execute(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    return {};
  });
  const made = await insertTasks(ctx, [alice().id, alice().id, alice().id]);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  for (const task of made) t.match(await readRun(ctx, task), { status: 'completed' });
  t.equal(ai.requests.length, 3);
});
