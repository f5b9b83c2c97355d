import t from 'tap';
import type { AiOutcome } from '../../src/lib/ai/client.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp, signUpAda } from '../support/people.ts';
import { BUSY_OUTCOME, createFixedAi, INVALID_IDS, postTask, runDue, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));
const get = ({ headers }: Person, id: number | string) => app.inject({ url: `/api/executions/${id}`, headers });
const read = async (person: Person, id: number) => (await get(person, id)).json().execution;
const execute = async ({ headers }: Person, id: number): Promise<number> =>
  (await app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers })).json().executionId;

const USAGE = { model: 'maker/model-2026', inputTokens: 12, outputTokens: 30, estimated: false, costUsd: 0.000123 };
const ANSWER: AiOutcome = { ok: true, text: 'All quiet 🔔\nindeed.', durationMs: 1234.6, usage: USAGE };

t.test('An execution is shown from its queue to its end', async (t) => {
  const alice = await signUp(app);
  const taskId = await postTask(app, alice);
  const id = await execute(alice, taskId);
  const waiting = {
    id,
    taskId,
    userId: alice.id,
    status: 'pending',
    result: null,
    error: null,
    errorCode: null,
    tokensUsed: null,
    tokens: null,
    costUsd: null,
    model: null,
    processingTimeMs: null,
    trigger: 'manual',
    plannedFor: null,
    attempt: 1,
    retryOfId: null,
    taskVersion: null,
    createdAt: START.toISOString(),
    startedAt: null,
    completedAt: null,
    seenAt: null,
    output: null,
    changed: null,
    changes: null,
    citations: [],
    sources: [],
    toolUses: 0,
    truncated: false,
    modelAttempts: [],
    outcome: null,
    outcomeReason: null,
    request: null,
  };
  const answer = await get(alice, id);
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), { success: true, execution: waiting });

  clock.advance(1000);
  const startedAt = '2026-11-20T10:00:01.000Z';
  const other = await execute(alice, await postTask(app, alice));
  await runDue({ ...ctx, ai: createFixedAi(ANSWER) });
  t.same(await read(alice, id), {
    ...waiting,
    status: 'completed',
    result: 'All quiet 🔔\nindeed.',
    tokensUsed: 42,
    tokens: { input: 12, output: 30, total: 42, estimated: false },
    costUsd: 0.000123,
    model: 'maker/model-2026',
    processingTimeMs: 1235,
    modelAttempts: [{ model: 'openai/gpt-5-mini', errorCode: null, message: null, ms: 1235 }],
    taskVersion: 1,
    startedAt,
    completedAt: startedAt,
    request: {
      system: [
        'This is a run of the task "Morning news" on demand.',
        'It is Friday, 2026-11-20, 10:00, in the time zone UTC (UTC+00:00).',
        'No earlier run of the task is known to have succeeded.',
      ].join('\n'),
      prompt: TASK.prompt,
      model: 'openai/gpt-5-mini',
    },
  });
  t.match(await read(alice, other), { status: 'completed', trigger: 'manual' });
});

t.test('A running execution shows when it started', async (t) => {
  const alice = await signUp(app);
  const id = await execute(alice, await postTask(app, alice));
  await pipeline.claim(ctx, { limit: 5, after: 0 });
  t.match(await read(alice, id), {
    status: 'running',
    startedAt: START.toISOString(),
    completedAt: null,
    seenAt: null,
    tokens: null,
  });
});

t.test('A planned execution and its retry name the instant that they were planned for', async (t) => {
  const alice = await signUp(app);
  const taskId = await postTask(app, alice, { recurrence: 'once' });
  clock.set(TASK.scheduledFor);
  await runDue({ ...ctx, ai: createFixedAi(BUSY_OUTCOME) });
  const { executions } = (
    await app.inject({ url: '/api/executions', query: { taskId: String(taskId) }, headers: alice.headers })
  ).json();
  const [retry, first] = executions;
  const { request: _, ...shown } = await read(alice, first.id);
  t.same(shown, first);
  t.match(first, {
    status: 'failed',
    trigger: 'schedule',
    plannedFor: TASK.scheduledFor,
    error: 'The provider is busy.',
    errorCode: 'RATE_LIMIT_EXCEEDED',
    attempt: 1,
    completedAt: TASK.scheduledFor,
  });
  t.match(retry, {
    status: 'pending',
    trigger: 'retry',
    plannedFor: TASK.scheduledFor,
    attempt: 2,
    retryOfId: first.id,
  });
});

t.test('Estimated tokens and a cost of zero are shown as such', async (t) => {
  const alice = await signUp(app);
  const id = await execute(alice, await postTask(app, alice));
  const usage = { ...USAGE, outputTokens: 0, estimated: true, costUsd: 0 };
  await runDue({ ...ctx, ai: createFixedAi({ ...ANSWER, text: '', usage }) });
  t.match(await read(alice, id), {
    result: '',
    tokensUsed: 12,
    tokens: { input: 12, output: 0, total: 12, estimated: true },
    costUsd: 0,
  });
});

t.test('A stranger does not find an execution, and neither does an admin', async (t) => {
  const [alice, bob, ada] = [await signUp(app), await signUp(app, { name: 'Bob' }), await signUpAda(app)];
  const id = await execute(alice, await postTask(app, alice));
  for (const person of [bob, ada]) {
    const answer = await get(person, id);
    t.equal(answer.statusCode, 404);
    t.same(answer.json(), { success: false, error: 'Execution not found' });
  }
});

t.test('An id that cannot exist is not found', async (t) => {
  const alice = await signUp(app);
  for (const id of [...INVALID_IDS, '2147483647']) t.equal((await get(alice, id)).statusCode, 404, id);
});

t.test('Reading an execution requires a session', async (t) => {
  const alice = await signUp(app);
  const id = await execute(alice, await postTask(app, alice));
  await assertNeedsSession(t, app, { url: `/api/executions/${id}` });
});
