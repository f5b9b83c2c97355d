import { usageRecords, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { encryptProviderKey } from '../../../src/lib/crypto/encryption.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { START } from '../../support/context.ts';
import { AI_KEY, testEngine } from '../../support/engine.ts';
import { insertTask, readRun, readTaskRow } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, newWorker } = await testEngine(t);

t.test('System message, prompt, model, token limit, temperature and key reach the provider', async (t) => {
  const settings = { aiModel: 'maker/model-1', maxTokens: 321, temperature: 125 };
  await insertTask(ctx, alice().id, { prompt: 'Héllo 🌍\nsecond line', ...settings });
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.equal(ai.requests.length, 1);
  t.strictSame(ai.requests[0]?.body, {
    model: 'maker/model-1',
    messages: [
      {
        role: 'system',
        content: [
          'This is a scheduled run of the task "Task 0".',
          'It is Friday, 2026-11-20, 10:00, in the time zone UTC (UTC+00:00), as planned.',
          'No earlier run of the task is known to have succeeded.',
        ].join('\n'),
      },
      { role: 'user', content: 'Héllo 🌍\nsecond line' },
    ],
    max_tokens: 321,
    temperature: 1.25,
    stream: false,
  });
  t.equal(ai.requests[0]?.headers.authorization, `Bearer ${AI_KEY}`);
});

t.test("A user's own key is used for that user's executions", async (t) => {
  const sealed = encryptProviderKey(ctx, alice().id, 'the-key-of-alice');
  await ctx.db.update(users).set({ providerKeyEncrypted: sealed }).where(eq(users.id, alice().id));
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.equal(ai.requests[0]?.headers.authorization, 'Bearer the-key-of-alice');
});

t.test('A key that cannot be decrypted fails the execution, and no provider is asked', async (t) => {
  const sealed = encryptProviderKey(ctx, alice().id + 1, 'moved here from another row');
  await ctx.db.update(users).set({ providerKeyEncrypted: sealed }).where(eq(users.id, alice().id));
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'AUTHENTICATION_FAILED', inputTokens: null });
  t.equal(ai.requests.length, 0);
});

t.test('Result, tokens, cost, duration and the model that answered are stored', async (t) => {
  const usage = { promptTokens: 120, completionTokens: 34, cost: 0.0042 };
  ai.answer(() => ({ text: 'The answer.', model: 'maker/model-1-2026-05', usage, delayMs: 30 }));
  const task = await insertTask(ctx, alice().id, { aiModel: 'maker/model-1' });
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const run = await readRun(ctx, task);
  t.match(run, {
    status: 'completed',
    result: 'The answer.',
    error: null,
    errorCode: null,
    model: 'maker/model-1-2026-05',
    inputTokens: 120,
    outputTokens: 34,
    tokensEstimated: false,
    costUsd: 0.0042,
    startedAt: START,
    completedAt: START,
    claimToken: null,
    leaseUntil: null,
  });
  t.ok(run.processingTimeMs! >= 25 && run.processingTimeMs! < 5000, `${run.processingTimeMs} ms`);
  const [record] = await ctx.db.select().from(usageRecords).where(eq(usageRecords.executionId, run.id));
  t.match(record, { source: 'execution', day: '2026-11-20', inputTokens: 120, outputTokens: 34, costUsd: 0.0042 });
});

t.test('A task counts its executions, and its last execution is when one started', async (t) => {
  const task = await insertTask(ctx, alice().id);
  clock.advance(90_000);
  await enqueueDue(ctx);
  clock.advance(7000);
  await newWorker(t).drain();
  const startedAt = new Date(START.getTime() + 97_000);
  t.match(await readRun(ctx, task), { startedAt, plannedFor: START });
  t.match(await readTaskRow(ctx, task), { executionCount: 1, lastExecutionAt: startedAt });
});

t.test('An execution on demand needs no due time and does not change the schedule', async (t) => {
  const ahead = new Date(START.getTime() + 60_000);
  const task = await insertTask(ctx, alice().id, { nextExecutionAt: ahead });
  const { executionId, startedAt } = await executeTask(ctx, alice(), task);
  t.strictSame(startedAt, START);
  await newWorker(t).drain();
  t.match(await readRun(ctx, task), { id: executionId, status: 'completed', trigger: 'manual', plannedFor: null });
  t.match(await readTaskRow(ctx, task), { executionCount: 1, nextExecutionAt: ahead });
});

t.test('A running call to the provider holds no database connection', async (t) => {
  const idle = new Promise<void>((resolve, reject) => {
    ai.answer(async () => {
      const [row] = await ctx.db.execute(
        "select count(*)::int as open from pg_stat_activity where datname = current_database() and state like 'idle in%'",
      );
      if (row?.open === 0) resolve();
      else reject(new Error(`${row?.open} transactions are open.`));
      return {};
    });
  });
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  await t.resolves(idle);
});
