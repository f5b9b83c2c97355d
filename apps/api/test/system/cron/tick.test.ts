import { compileValidator } from '@carillon/contract';
import { runScheduler } from '@carillon/contract/cron';
import { settings } from '@carillon/db';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { CRON_SECRET, START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import { passTime } from '../../support/leases.ts';
import { insertTask, insertTasks, insertUsage, insertUsers } from '../../support/task-rows.ts';

const { ctx, app, ai, clock, alice, newWorker } = await testEngine(t);

const checkAnswer = compileValidator(runScheduler.response[200]);
const authorization = `Bearer ${CRON_SECRET}`;
const times = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));

async function tick(headers: Record<string, string> = {}) {
  const response = await app.inject({ url: '/api/cron/scheduler', headers: { authorization, ...headers } });
  if (response.statusCode !== 200) throw new Error(response.body);
  return { ...response.json(), nextDueAt: response.headers['x-next-due-at'], headers: response.headers };
}

t.test('A tick without the secret runs nothing', async (t) => {
  await insertTask(ctx, alice().id);
  for (const given of [undefined, 'Bearer wrong', `Basic ${CRON_SECRET}`, CRON_SECRET, `Bearer ${CRON_SECRET}x`]) {
    const headers = given === undefined ? {} : { authorization: given };
    const response = await app.inject({ url: '/api/cron/scheduler', headers });
    t.equal(response.statusCode, 401);
    t.match(response.json(), { success: false, error: 'Unauthorized' });
  }
  t.equal((await enqueueDue(ctx)).queued.length, 1);
});

t.test('A tick with nothing due answers zero at once', async (t) => {
  const { headers, nextDueAt, ...answer } = await tick();
  t.match(checkAnswer(answer), { ok: true });
  t.match(answer, { success: true, processed: 0, failed: 0 });
  t.equal(nextDueAt, undefined);
  t.equal(headers['cache-control'], 'no-store');
});

t.test('A tick answers when its executions have ended, with the number of failures', async (t) => {
  ctx.worker = newWorker(t);
  ai.answer((request) =>
    String(request.body.messages.at(-1)?.content).endsWith('0') ? { status: 400 } : { delayMs: 20 },
  );
  await insertTasks(
    ctx,
    times(3, () => alice().id),
  );
  const { headers: _, nextDueAt, ...answer } = await tick();
  t.match(checkAnswer(answer), { ok: true });
  t.match(answer, { processed: 3, failed: 1 });
  t.equal(nextDueAt, '2026-11-21T10:00:00.000Z');
  t.equal(ai.requests.length, 3);
});

t.test('A tick that is asked to respond at once counts what it has queued', async (t) => {
  await insertTasks(
    ctx,
    times(3, () => alice().id),
  );
  for (const prefer of ['respond-async', 'wait=10, Respond-Async; x=1']) {
    t.match(await tick({ prefer }), { processed: prefer === 'respond-async' ? 3 : 0, failed: 0 });
  }
  t.equal(ai.requests.length, 0);
});

t.test('An execution that a quota refuses counts as failed', async (t) => {
  ctx.worker = newWorker(t);
  await insertUsage(ctx, alice().id, { executions: 48 });
  await insertTasks(
    ctx,
    times(5, () => alice().id),
  );
  t.match(await tick(), { processed: 5, failed: 3 });
});

t.test('A tick runs the retries that are due', async (t) => {
  ctx.worker = newWorker(t);
  ai.answer(() => ({ status: 503 }));
  await insertTask(ctx, alice().id);
  t.match(await tick(), { processed: 1, failed: 1, nextDueAt: '2026-11-20T10:01:00.000Z' });
  ai.answer(() => ({}));
  clock.advance(59_999);
  t.match(await tick(), { processed: 0, nextDueAt: '2026-11-20T10:01:00.000Z' });
  clock.advance(1);
  t.match(await tick(), { processed: 1, failed: 0, nextDueAt: '2026-11-21T10:00:00.000Z' });
});

t.test('A tick takes over the executions of a dead process', async (t) => {
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await pipeline.claim(ctx, { limit: 1, after: 0 });
  ctx.worker = newWorker(t);
  t.match(await tick(), { processed: 0 });
  await passTime({ ctx, clock }, 30_001);
  t.match(await tick(), { processed: 1, failed: 0 });
});

t.test('A tick rescues only if a lease has expired', async (t) => {
  let rescues = 0;
  const rescue = async () => {
    rescues += 1;
    return [];
  };
  ctx.worker = { ...ctx.worker, rescue };
  await insertTask(ctx, alice().id);
  await tick({ prefer: 'respond-async' });
  await pipeline.claim(ctx, { limit: 1, after: 0 });
  await passTime({ ctx, clock }, 25_000);
  await tick({ prefer: 'respond-async' });
  t.equal(rescues, 0);
  await passTime({ ctx, clock }, 5000);
  await tick({ prefer: 'respond-async' });
  t.equal(rescues, 1);
});

t.test('The next due time is the due time of the next task, to the millisecond', async (t) => {
  await insertTask(ctx, alice().id, { nextExecutionAt: new Date(START.getTime() + 61_234) });
  await insertTask(ctx, alice().id, { nextExecutionAt: new Date(START.getTime() + 99_000) });
  await insertTask(ctx, alice().id, { nextExecutionAt: null });
  t.match(await tick(), { processed: 0, nextDueAt: '2026-11-20T10:01:01.234Z' });
});

t.test('Overlapping ticks count together what was due, each execution once', async (t) => {
  const people = await insertUsers(ctx, 30);
  await insertTasks(
    ctx,
    times(300, (at) => people[at % 30]!),
  );
  ctx.worker = newWorker(t);
  const answers = await Promise.all(times(6, () => tick()));
  t.equal(
    answers.reduce((sum, { processed }) => sum + processed, 0),
    300,
  );
  t.equal(ai.requests.length, 300);
});

t.test('A tick in maintenance mode answers and queues nothing', async (t) => {
  ctx.worker = newWorker(t);
  await insertTask(ctx, alice().id);
  await ctx.db.update(settings).set({ maintenanceMode: true });
  t.match(await tick(), { processed: 0, failed: 0 });
  await ctx.db.update(settings).set({ maintenanceMode: false });
  t.match(await tick(), { processed: 1, failed: 0 });
});

t.test('A tick stops waiting when its process stops', async (t) => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  ai.answer(async () => {
    reached.resolve();
    await held.promise;
    return {};
  });
  const worker = newWorker(t);
  ctx.worker = worker;
  await insertTask(ctx, alice().id);
  const ticking = tick();
  await reached.promise;
  await worker.stop();
  t.match(await ticking, { processed: 0, failed: 0 });
  held.resolve();
});
