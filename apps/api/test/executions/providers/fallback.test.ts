import { randomUUID } from 'node:crypto';
import { alerts, executions, providers, tasks, usageCounters, usageRecords, users } from '@carillon/db';
import { and, asc, eq } from 'drizzle-orm';
import t from 'tap';
import { encryptApiKey } from '../../../src/lib/ai/provider-list.ts';
import { encryptProviderKey } from '../../../src/lib/crypto/encryption.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { rescueExecutions } from '../../../src/product/executions/pipeline/leases.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { findWrongCounters } from '../../../src/product/usage/verify.ts';
import { AI_KEY, testEngine } from '../../support/engine.ts';
import { passTime } from '../../support/leases.ts';
import { type AiAnswer, startAiServer } from '../../support/servers/ai-server.ts';
import { startAnthropicServer } from '../../support/servers/anthropic-server.ts';
import { insertTask, insertTasks, insertUsers, readRun, readRuns } from '../../support/task-rows.ts';

const { ctx, clock, ai, alice, newWorker, newProcess, runDue } = await testEngine(t, { AI_TIMEOUT_MS: '400' });
const second = await startAiServer({ apiKey: 'key-2' });
const claude = await startAnthropicServer({ after: (work) => t.teardown(work) });
t.teardown(() => second.close());

const addProvider = async (name: string, baseUrl: string, apiKey: string, kind: 'openai' | 'anthropic' = 'openai') => {
  const id = randomUUID();
  const apiKeyEncrypted = encryptApiKey(ctx.config.encryptionKeys, id, apiKey);
  const at = ctx.now();
  await ctx.db.insert(providers).values({ id, name, kind, baseUrl, apiKeyEncrypted, createdAt: at, updatedAt: at });
};
await addProvider('second', second.url, 'key-2');
await addProvider('claude', claude.url, 'anthropic-key-1', 'anthropic');

t.beforeEach(() => {
  second.requests.length = 0;
  second.answer(() => ({ text: 'From the second.' }));
  claude.requests.length = 0;
  claude.answer(null);
});

const FALLBACKS = ['second/m2', 'claude/m3'];
const insert = (values: Parameters<typeof insertTask>[2] = {}) =>
  insertTask(ctx, alice().id, { aiModel: 'm1', fallbackModels: FALLBACKS, ...values });
const readCalls = (taskId: number) =>
  ctx.db
    .select({
      source: usageRecords.source,
      provider: usageRecords.provider,
      executions: usageRecords.executions,
      tokens: usageRecords.inputTokens,
      output: usageRecords.outputTokens,
      costUsd: usageRecords.costUsd,
    })
    .from(usageRecords)
    .innerJoin(executions, eq(executions.id, usageRecords.executionId))
    .where(eq(executions.taskId, taskId))
    .orderBy(asc(usageRecords.id));

const USAGE = { promptTokens: 100, completionTokens: 10, cost: 0.5 };
const FALLS_BACK: Record<string, [answer: AiAnswer, errorCode: string]> = {
  'a failing server': [{ status: 500 }, 'PROVIDER_UNAVAILABLE'],
  'an overloaded one': [{ status: 529, body: { error: { type: 'overloaded_error' } } }, 'PROVIDER_UNAVAILABLE'],
  'a reset connection': [{ reset: true }, 'PROVIDER_UNAVAILABLE'],
  'an answer that breaks off': [{ reset: 20 }, 'PROVIDER_UNAVAILABLE'],
  'an answer without text': [{ text: '' }, 'PROVIDER_UNAVAILABLE'],
  'no protocol': [{ body: '<html>Sign in</html>' }, 'PROVIDER_UNAVAILABLE'],
  'a redirect': [{ status: 302, headers: { location: '/login' }, body: '' }, 'PROVIDER_ERROR'],
  'no answer in time': [{ hang: 'head' }, 'TIMEOUT'],
  'a rate limit': [{ status: 429 }, 'RATE_LIMIT_EXCEEDED'],
  'a rate limit of a minute': [{ status: 429, headers: { 'retry-after': '60' } }, 'RATE_LIMIT_EXCEEDED'],
  'a refused key': [{ status: 401 }, 'AUTHENTICATION_FAILED'],
  'no credit': [{ status: 402 }, 'QUOTA_EXCEEDED'],
  'an unknown model': [
    { status: 404, body: { error: { message: 'The model `m1` does not exist', code: 'model_not_found' } } },
    'UNKNOWN_MODEL',
  ],
  'an unknown model of OpenRouter': [
    { status: 400, body: { error: { message: 'm1 is not a valid model ID', code: 400 } } },
    'UNKNOWN_MODEL',
  ],
};

for (const [what, [answer, errorCode]] of Object.entries(FALLS_BACK)) {
  t.test(`After ${what} the next model answers within the same run`, async (t) => {
    ai.answer(() => answer);
    const id = await insert();
    await runDue(t);
    const run = await readRun(ctx, id);
    t.match(run, { status: 'completed', result: 'From the second.', attempt: 1, errorCode: null });
    t.match(run?.modelAttempts, [
      { model: 'm1', errorCode, message: String, ms: Number },
      { model: 'second/m2', errorCode: null, message: null, ms: Number },
    ]);
    t.equal(run?.modelAttempts?.length, 2);
    t.equal(second.requests.at(-1)?.body.model, 'm2', 'the name as the provider has it');
    t.equal((await readRuns(ctx, id)).length, 1);
    t.equal(claude.requests.length, 0);
    t.equal((await ctx.db.select().from(tasks).where(eq(tasks.id, id)))[0]?.fallbacksInRow, 1);
  });
}

const STOPS: Record<string, [answer: AiAnswer, errorCode: string]> = {
  'a content filter': [{ finishReason: 'content_filter' }, 'CONTENT_FILTERED'],
  'an invalid request': [{ status: 400, body: { error: { message: 'messages must be a list' } } }, 'INVALID_REQUEST'],
  'a limit of tokens that the task sets': [{ text: '', finishReason: 'length' }, 'PROVIDER_ERROR'],
};
for (const [what, [answer, errorCode]] of Object.entries(STOPS)) {
  t.test(`After ${what} no other model is asked`, async (t) => {
    ai.answer(() => answer);
    const id = await insert();
    await runDue(t);
    t.match(await readRun(ctx, id), { status: 'failed', errorCode, modelAttempts: [{ model: 'm1', errorCode }] });
    t.equal(second.requests.length, 0);
  });
}

t.test('An answer that does not match the schema is not asked of another model', async (t) => {
  const outputSchema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
  ai.answer(() => ({ text: 'No JSON.' }));
  const id = await insert({ outputSchema });
  await runDue(t);
  t.match(await readRun(ctx, id), { status: 'failed', errorCode: 'INVALID_OUTPUT' });
  t.equal(second.requests.length, 0);
});

t.test('A rate limit of at most 10 s is waited for once, then the next model is asked', async (t) => {
  ai.answer(() => ({ status: 429, headers: { 'retry-after-ms': '30' } }));
  const id = await insert();
  await runDue(t);
  t.equal(ai.requests.length, 2);
  t.same(
    (await readRun(ctx, id))?.modelAttempts?.map(({ model, errorCode }) => [model, errorCode]),
    [
      ['m1', 'RATE_LIMIT_EXCEEDED'],
      ['m1', 'RATE_LIMIT_EXCEEDED'],
      ['second/m2', null],
    ],
  );
  ai.requests.length = 0;
  const other = await insert();
  ai.answer(() =>
    ai.requests.length === 1 ? { status: 429, headers: { 'retry-after-ms': '30' } } : { text: 'Mine.' },
  );
  await runDue(t);
  t.match(await readRun(ctx, other), { status: 'completed', result: 'Mine.' });
  t.equal((await ctx.db.select().from(tasks).where(eq(tasks.id, other)))[0]?.fallbacksInRow, 0, 'no fallback');
});

t.test('Each call is in the ledger with its provider; cost and model of the run are those that answered', async (t) => {
  // Billed, and then not to be used.
  ai.answer(() => ({ text: '', usage: USAGE }));
  second.answer(() => ({ text: '', usage: { ...USAGE, cost: 0.25 } }));
  const id = await insert();
  await runDue(t);
  t.match(await readRun(ctx, id), { status: 'completed', model: 'm3', inputTokens: 1000, outputTokens: 100 });
  const calls = await readCalls(id);
  t.match(calls, [
    { source: 'fallback', provider: 'default', executions: 0, tokens: 100, output: 10, costUsd: 0.5 },
    { source: 'fallback', provider: 'second', executions: 0, tokens: 100, output: 10, costUsd: 0.25 },
    { source: 'execution', provider: 'claude', executions: 1, tokens: 1000, output: 100 },
  ]);
  const sum = calls.reduce((usd, call) => usd + call.costUsd, 0);
  const [task] = await ctx.db.select().from(tasks).where(eq(tasks.id, id));
  t.equal(task?.monthCostUsd, sum);
  const [counter] = await ctx.db
    .select()
    .from(usageCounters)
    .where(and(eq(usageCounters.userId, alice().id), eq(usageCounters.period, '2026-11')));
  t.match(counter, { executions: 1, tokens: 1320, tokensReserved: 0, costUsd: sum, completed: 1 });
  t.same(await findWrongCounters(ctx.db), []);
});

t.test(
  'If all models fail, a failure that a retry mends is reported, and the retry begins with the first model',
  async (t) => {
    ai.answer(() => ({ status: 503 }));
    second.answer(() => ({ status: 401 }));
    const id = await insert({ fallbackModels: ['second/m2'] });
    await runDue(t);
    t.match((await readRuns(ctx, id))[0], {
      status: 'failed',
      errorCode: 'PROVIDER_UNAVAILABLE',
      modelAttempts: [{ errorCode: 'PROVIDER_UNAVAILABLE' }, { errorCode: 'AUTHENTICATION_FAILED' }],
    });
    ai.answer(() => ({ text: 'Back again.' }));
    clock.advance(60_000);
    await runDue(t);
    const [, retry] = await readRuns(ctx, id);
    t.match(retry, { trigger: 'retry', status: 'completed', result: 'Back again.', modelAttempts: [{ model: 'm1' }] });
  },
);

t.test('If no failure can be mended, the last one is reported and no retry follows', async (t) => {
  ai.answer(() => ({ status: 401 }));
  second.answer(() => ({ status: 402 }));
  const id = await insert({ fallbackModels: ['second/m2'] });
  await runDue(t);
  t.match(await readRun(ctx, id), { status: 'failed', errorCode: 'QUOTA_EXCEEDED' });
  t.equal((await readRuns(ctx, id)).length, 1);
});

t.test(
  "A person's own key goes to the default provider only, and one that is unreadable stops no fallback",
  async (t) => {
    const own = encryptProviderKey(ctx, alice().id, 'my-own-key');
    await ctx.db.update(users).set({ providerKeyEncrypted: own }).where(eq(users.id, alice().id));
    ai.answer(() => ({ status: 500 }));
    await insert();
    await runDue(t);
    t.equal(ai.requests.at(-1)?.headers.authorization, 'Bearer my-own-key');
    t.equal(second.requests.at(-1)?.headers.authorization, 'Bearer key-2');
    await ctx.db.update(users).set({ providerKeyEncrypted: 'v1.gone.AAAA' }).where(eq(users.id, alice().id));
    ai.requests.length = 0;
    const id = await insert();
    await runDue(t);
    t.equal(ai.requests.length, 0);
    t.match(await readRun(ctx, id), {
      status: 'completed',
      modelAttempts: [{ model: 'm1', errorCode: 'AUTHENTICATION_FAILED' }, { model: 'second/m2' }],
    });
    await ctx.db.update(users).set({ providerKeyEncrypted: null }).where(eq(users.id, alice().id));
    ai.answer(() => ({}));
    await insert();
    await runDue(t);
    t.equal(ai.requests.at(-1)?.headers.authorization, `Bearer ${AI_KEY}`);
  },
);

t.test('A fallback that the budget does not cover is not asked', async (t) => {
  ai.answer(() => ({ text: '', usage: { ...USAGE, cost: 0.9 } }));
  const id = await insert({ aiModel: 'gpt-4o-mini', fallbackModels: ['second/gpt-4o'], monthlyBudgetUsd: 0.9 });
  await runDue(t);
  t.match(await readRun(ctx, id), { status: 'failed', errorCode: 'QUOTA_EXCEEDED' });
  t.equal(second.requests.length, 0);
  t.equal((await readRuns(ctx, id)).length, 1);
});

t.test('The dearest model of the list decides whether a run is within its budget', async (t) => {
  const id = await insert({
    aiModel: 'a-model-without-a-price',
    fallbackModels: ['second/gpt-4o'],
    monthlyBudgetUsd: 0.0001,
  });
  await runDue(t);
  t.match(await readRuns(ctx, id), []);
  t.equal(ai.requests.length, 0);
});

t.test('A process that dies between the models loses no cost, and one answer is stored', async (t) => {
  ai.answer(() => ({ text: '', usage: USAGE }));
  const reached = Promise.withResolvers<void>();
  second.answer(() => {
    reached.resolve();
    return { hang: 'head' };
  });
  const id = await insert();
  await enqueueDue(ctx);
  const dying = newProcess(t, { ai: { ...ctx.config.ai, timeoutMs: 60_000 } });
  dying.worker.wakeExecutions();
  await reached.promise;
  // As after kill -9: nothing renews the lease, and nothing of the process is stored any more.
  await passTime({ ctx, clock }, 30_001);
  await rescueExecutions(ctx);
  second.answer(() => ({ text: 'From the second.', usage: { ...USAGE, cost: 0.25 } }));
  await newWorker(t).drain();
  await dying.worker.rescue();
  const run = await readRun(ctx, id);
  t.match(run, { status: 'completed', result: 'From the second.', interruptions: 1 });
  t.equal(run?.modelAttempts?.length, 2, 'of the latest start');
  t.match(await readCalls(id), [
    { source: 'fallback', provider: 'default', costUsd: 0.5 },
    { source: 'interrupted' },
    { source: 'fallback', provider: 'default', costUsd: 0.5 },
    { source: 'execution', provider: 'second', costUsd: 0.25 },
  ]);
  t.same(await findWrongCounters(ctx.db), []);
});

t.test(
  '1,000 runs over a provider that fails half of its calls are answered once each, by two processes',
  async (t) => {
    ai.answer((_request, at) => (at % 2 === 0 ? { status: 503 } : {}));
    const userIds = (await insertUsers(ctx, 20)).flatMap((userId) => Array<number>(50).fill(userId));
    const ids = await insertTasks(ctx, userIds, { aiModel: 'm1', fallbackModels: ['second/m2'] });
    await enqueueDue(ctx);
    const [one, other] = [newProcess(t), newProcess(t)];
    await Promise.all([one.worker.drain(), other.worker.drain()]);
    const runs = await ctx.db.select({ status: executions.status }).from(executions);
    t.equal(runs.length, ids.length);
    t.ok(runs.every(({ status }) => status === 'completed'));
    t.equal(await ctx.db.$count(usageRecords, eq(usageRecords.executions, 1)), ids.length);
    t.equal(ai.requests.length, ids.length);
    t.same(await findWrongCounters(ctx.db), []);
  },
);

t.test('task.degraded is sent once, when fallbacks have answered three times in a row', async (t) => {
  const id = await insert({ webhookUrl: 'https://hooks.example.com/a', recurrence: 'once', nextExecutionAt: null });
  const run = async () => {
    await executeTask(ctx, alice(), id);
    clock.advance(1000);
    await newWorker(t).drain();
  };
  const kinds = async () => (await ctx.db.select().from(alerts).where(eq(alerts.taskId, id))).map(({ kind }) => kind);
  ai.answer(() => ({ status: 503 }));
  await run();
  await run();
  t.same(await kinds(), []);
  ai.answer(() => ({}));
  await run();
  ai.answer(() => ({ status: 503 }));
  for (let at = 0; at < 4; at++) await run();
  t.same(await kinds(), ['task.degraded']);
  const [alert] = await ctx.db.select().from(alerts).where(eq(alerts.taskId, id));
  t.match(alert, {
    title: /A fallback model answered the task .* 3 times in a row/,
    message: /Answered by second\/m2, because m1 was unavailable or overloaded \(1 try, \d+ ms\)/,
    data: { fallbacksInRow: 3, modelAttempts: [{ model: 'm1' }, { model: 'second/m2' }] },
  });
});
