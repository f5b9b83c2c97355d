import { randomUUID } from 'node:crypto';
import { compileValidator } from '@carillon/contract';
import { type EventKind, eventPayload } from '@carillon/contract/webhooks/events';
import { deliveries, endpoints } from '@carillon/db';
import { asc } from 'drizzle-orm';
import t from 'tap';
import { completeExecutions } from '../../../src/product/executions/pipeline/complete.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import { insertTask, insertUsage, insertUsers, readRun, readRuns } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, runDue } = await testEngine(t);

const EVERY_RUN: EventKind[] = [
  'task.started',
  'execution.started',
  'task.completed',
  'execution.completed',
  'task.failed',
  'execution.failed',
];

async function insertWebhook(values: Partial<typeof endpoints.$inferInsert> = {}): Promise<string> {
  const id = randomUUID();
  const [createdAt, updatedAt] = [START, START];
  const secret = { secretEncrypted: 'sealed', secretLookup: id };
  const from = { userId: alice().id, url: 'https://example.com/hook', events: EVERY_RUN, createdAt, updatedAt };
  await ctx.db.insert(endpoints).values({ id, ...secret, ...from, ...values });
  return id;
}

/** The queued deliveries, oldest first, each as its event and the payload that the receiver gets. */
async function readDeliveries() {
  const found = await ctx.db.select().from(deliveries).orderBy(asc(deliveries.createdAt), asc(deliveries.event));
  return found.map(({ payload, ...delivery }) => ({ ...delivery, payload: JSON.parse(payload) }));
}

t.test('A successful execution sends its start and its end, each under both names', async (t) => {
  const webhook = await insertWebhook();
  const task = await insertTask(ctx, alice().id, { name: 'Morning news' });
  ai.answer(() => ({ text: 'All is well.', usage: { promptTokens: 11, completionTokens: 5 } }));
  await runDue(t);
  const run = await readRun(ctx, task);
  const found = await readDeliveries();
  t.strictSame(
    found.map(({ event }) => event),
    ['execution.completed', 'execution.started', 'task.completed', 'task.started'],
  );
  for (const { event, payload, status, nextAttemptAt } of found) {
    t.match(compileValidator(eventPayload(event as EventKind))(payload), { ok: true }, event);
    t.match(payload, { event, timestamp: START.toISOString(), webhookId: webhook, userId: alice().id });
    t.match({ status, nextAttemptAt }, { status: 'pending', nextAttemptAt: START });
  }
  t.strictSame(found[0]?.payload.data, found[2]?.payload.data);
  t.strictSame(found[1]?.payload.data, found[3]?.payload.data);
  t.match(found[3]?.payload.data, {
    task: { id: task, name: 'Morning news' },
    execution: { id: run.id, status: 'running', startedAt: START.toISOString() },
  });
  t.match(found[2]?.payload.data, {
    task: { id: task, name: 'Morning news', status: 'active' },
    execution: {
      id: run.id,
      status: 'completed',
      result: 'All is well.',
      tokensUsed: { input: 11, output: 5, total: 16 },
      processingTimeMs: run.processingTimeMs,
      startedAt: START.toISOString(),
      completedAt: START.toISOString(),
    },
  });
});

t.test('A failed execution sends its error and the time of its retry', async (t) => {
  await insertWebhook({ events: ['task.failed', 'execution.failed'] });
  const task = await insertTask(ctx, alice().id, { recurrence: 'once' });
  ai.answer(() => ({ status: 503, body: { error: { message: 'Overloaded' } } }));
  await runDue(t);
  ai.answer(() => ({ status: 401 }));
  clock.advance(60_000);
  await runDue(t);

  const [first, again, last] = await readDeliveries();
  const [run, retry] = await readRuns(ctx, task);
  for (const { event, payload } of [first!, again!, last!]) {
    t.match(compileValidator(eventPayload(event as EventKind))(payload), { ok: true });
  }
  t.strictSame(first?.payload.data, again?.payload.data);
  t.match(first?.payload.data, {
    task: { id: task, status: 'active' },
    execution: { id: run!.id, status: 'failed', errorCode: 'PROVIDER_UNAVAILABLE', error: run!.error },
    retryScheduled: true,
    nextRetryAt: '2026-11-20T10:01:00.000Z',
  });
  t.match(last?.payload.data, {
    task: { status: 'failed' },
    execution: { id: retry!.id, errorCode: 'AUTHENTICATION_FAILED', failedAt: '2026-11-20T10:01:00.000Z' },
    retryScheduled: false,
    nextRetryAt: null,
  });
});

t.test('An execution that a quota refuses sends its failure and no start', async (t) => {
  await insertWebhook();
  await insertTask(ctx, alice().id);
  await insertUsage(ctx, alice().id, { executions: 50 });
  await runDue(t);
  const found = await readDeliveries();
  t.strictSame(
    found.map(({ event }) => event),
    ['execution.failed', 'task.failed'],
  );
  for (const { event, payload } of found) {
    t.match(compileValidator(eventPayload(event as EventKind))(payload), { ok: true });
    t.match(payload.data, {
      execution: { errorCode: 'QUOTA_EXCEEDED', startedAt: null, processingTimeMs: null },
      retryScheduled: false,
    });
  }
});

t.test('The estimated duration is a default before the first run, and the last duration after it', async (t) => {
  await insertWebhook({ events: ['task.started'] });
  const task = await insertTask(ctx, alice().id);
  await runDue(t);
  const { processingTimeMs } = await readRun(ctx, task);
  clock.advance(24 * 60 * 60 * 1000);
  await runDue(t);
  const expected = (await readDeliveries()).map(({ payload }) => payload.data.execution.estimatedDurationMs);
  t.strictSame(expected, [10_000, processingTimeMs]);
});

t.test('Every active webhook that subscribes gets an event, and no other', async (t) => {
  const [bob] = await insertUsers(ctx, 1);
  const expected = [
    await insertWebhook({ events: ['task.completed'] }),
    await insertWebhook({ events: ['task.completed'] }),
  ];
  await insertWebhook({ events: ['task.completed'], status: 'inactive' });
  await insertWebhook({ events: ['task.completed'], status: 'failed' });
  await insertWebhook({ events: ['task.failed', 'task.created'] });
  await insertWebhook({ events: ['task.completed'], userId: bob! });
  await insertTask(ctx, alice().id);
  await runDue(t);
  t.strictSame((await readDeliveries()).map(({ webhookId }) => webhookId).sort(), expected.sort());
});

t.test('Events of a rolled back change are never sent', async (t) => {
  await insertWebhook();
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const undone = new Error('undone');
  const claiming = inTransaction(ctx, async (tx) => {
    await pipeline.claim(tx, { limit: 1, after: 0 });
    throw undone;
  });
  await t.rejects(claiming, undone);
  t.strictSame(await readDeliveries(), []);

  const [run] = (await pipeline.claim(ctx, { limit: 1, after: 0 })).started;
  await ctx.db.delete(deliveries);
  const completing = inTransaction(ctx, async (tx) => {
    await completeExecutions(tx, [buildResult(run!)]);
    throw undone;
  });
  await t.rejects(completing, undone);
  t.strictSame(await readDeliveries(), []);
});

t.test('A result with characters that JSON escapes arrives unchanged', async (t) => {
  await insertWebhook({ events: ['task.completed'] });
  const text = 'quotes " \\ and \u2028 lines\n\u0001 😀 </script>';
  ai.answer(() => ({ text }));
  await insertTask(ctx, alice().id);
  await runDue(t);
  t.equal((await readDeliveries())[0]?.payload.data.execution.result, text);
});
