import t from 'tap';
import { createAi } from '../../../src/lib/ai/client.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { testEngine } from '../../support/engine.ts';
import { signUp } from '../../support/people.ts';
import { insertTask, readRuns } from '../../support/task-rows.ts';
import { patchTask, postTask, readTask } from '../../support/tasks.ts';

const LIMIT = 30_000;
const { app, ctx, ai, alice, newWorker } = await testEngine(t, { AI_TIMEOUT_MS: String(LIMIT) });

t.test('timeoutMs is a number of milliseconds from 1,000 to the limit of the service, or null', async (t) => {
  const carol = await signUp(app);
  const id = await postTask(app, carol, { timeoutMs: LIMIT });
  t.equal((await readTask(app, carol, id)).timeoutMs, LIMIT);
  for (const timeoutMs of [1000, LIMIT, null]) {
    t.equal((await patchTask(app, carol, id, { timeoutMs })).statusCode, 200);
    t.equal((await readTask(app, carol, id)).timeoutMs, timeoutMs);
  }
  for (const [timeoutMs, message] of [
    [999, 'must be at least 1000'],
    [LIMIT + 1, `must be at most ${LIMIT}`],
    [3_600_001, 'must be at most 3600000'],
    [1000.5, 'must be an integer or null'],
    ['5000', 'must be an integer or null'],
  ] as const) {
    const answer = await patchTask(app, carol, id, { timeoutMs });
    t.equal(answer.statusCode, 400);
    t.same(answer.json().details, { timeoutMs: [message] });
  }
  t.equal((await readTask(app, carol, id)).timeoutMs, null);
});

t.test(
  'A run whose model takes longer than the timeout of its task fails with that time, and is retried',
  async (t) => {
    ai.answer(() => ({ hang: 'head' }));
    const task = await insertTask(ctx, alice().id, { timeoutMs: 1000 });
    await enqueueDue(ctx);
    await newWorker(t).drain();
    t.match(await readRuns(ctx, task), [
      {
        status: 'failed',
        errorCode: 'TIMEOUT',
        error: 'The provider did not answer within 1 s.',
        tokensEstimated: true,
      },
      { status: 'pending', trigger: 'retry' },
    ]);
  },
);

t.test('A timeout that is longer than a limit lowered since ends with the limit', async (t) => {
  ai.answer(() => ({ hang: 'head' }));
  const lowered = createAi({ ...ctx.config.ai, timeoutMs: 300 });
  t.teardown(() => lowered.close());
  const task = await insertTask(ctx, alice().id, { timeoutMs: LIMIT, maxRetries: 0 });
  await enqueueDue(ctx);
  await newWorker(t, { ai: lowered }).drain();
  t.match(await readRuns(ctx, task), [{ errorCode: 'TIMEOUT', error: 'The provider did not answer within 0.3 s.' }]);
});
