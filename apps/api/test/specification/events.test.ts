import type { EventKind } from '@carillon/contract/webhooks/events';
import t, { type Test } from 'tap';
import { createWorker } from '../../src/entry/worker.ts';
import { createDeliverer } from '../../src/product/deliveries/queue/deliverer.ts';
import { testContext } from '../support/context.ts';
import { assertExact, INSTANT, INTEGER, openCalls, TEXT } from '../support/exact-body.ts';
import { signUpAlice } from '../support/people.ts';
import { startAiServer } from '../support/servers/ai-server.ts';
import { type ReceivedDelivery, startReceiver } from '../support/servers/receiver.ts';
import { TASK } from '../support/tasks.ts';
import { computeSignature } from '../support/webhooks.ts';

/* The events that interface.md and its decisions list, as a receiver gets them. */

const KINDS: EventKind[] = [
  ...(['task.created', 'task.updated', 'task.deleted', 'task.started', 'task.completed', 'task.failed'] as const),
  ...(['execution.started', 'execution.completed', 'execution.failed', 'task.changed'] as const),
];
const ai = await startAiServer();
t.teardown(() => ai.close());
const receiver = await startReceiver(t);
const env = { AI_BASE_URL: ai.url, AI_API_KEY: 'a-key-of-the-operator', EXECUTION_RETRY_DELAYS_MS: '60000' };
const { app, ctx, clock } = await testContext(t, { env });
const call = await openCalls(app);
const alice = await signUpAlice(app);

async function createWebhook(path: string) {
  const body = { url: `${receiver.url}${path}`, events: KINDS };
  return (await call('POST', '/api/webhooks', { by: alice, body })).body.webhook;
}
const webhook = await createWebhook('/one');
const other = await createWebhook('/two');

/** Delivers what is due, and returns it. */
async function receive(): Promise<ReceivedDelivery[]> {
  receiver.received.length = 0;
  await createDeliverer(ctx).drain();
  return receiver.received;
}

const readBody = ({ body }: ReceivedDelivery) => JSON.parse(String(body));

async function createTask(given: object = {}): Promise<number> {
  return (await call('POST', '/api/agent/create-task', { by: alice, body: { ...TASK, ...given } })).body.taskId;
}

async function run(id: number): Promise<ReceivedDelivery[]> {
  await call('POST', `/api/tasks/${id}/execute`, { by: alice });
  await createWorker(ctx).drain();
  return receive();
}

/** Requires that one webhook got exactly these events. */
function assertEvents(t: Test, received: ReceivedDelivery[], expected: Partial<Record<EventKind, object>>): void {
  const own = received.filter(({ path }) => path === '/one').map(readBody);
  t.same(own.map(({ event }) => event).sort(), Object.keys(expected).sort());
  for (const body of own) {
    const data = expected[body.event as EventKind];
    const base = { timestamp: INSTANT, webhookId: webhook.id, userId: alice.id };
    assertExact(t, body, { event: body.event, ...base, data }, body.event);
  }
}

const { name } = TASK;
const started = (id: number) => ({
  task: { id, name },
  execution: { id: INTEGER, status: 'running', startedAt: INSTANT, estimatedDurationMs: INTEGER },
});
const completed = (id: number, rest: object = {}) => ({
  task: { id, name, status: 'active' },
  execution: {
    id: INTEGER,
    status: 'completed',
    result: TEXT,
    tokensUsed: { input: INTEGER, output: INTEGER, total: INTEGER },
    processingTimeMs: INTEGER,
    startedAt: INSTANT,
    completedAt: INSTANT,
    ...rest,
  },
});
const ended = (id: number, data: object) => ({
  'task.started': started(id),
  'execution.started': started(id),
  'task.completed': data,
  'execution.completed': data,
});

t.test('A task that is created, edited and deleted', async (t) => {
  const id = await createTask();
  const { prompt, recurrence, scheduledFor } = TASK;
  const created = { id, name, prompt, recurrence, scheduledFor, status: 'active', createdAt: INSTANT };
  assertEvents(t, await receive(), { 'task.created': { task: created } });
  const before: Record<string, unknown> = { ...TASK, status: 'active', recurrencePattern: null };
  for (const change of [
    { scheduledFor: '2026-12-01T09:00:00.000Z' },
    { recurrencePattern: '0 9 * * 1' },
    { timezone: 'Europe/Lisbon' },
    { status: 'paused' },
    { name: 'Evening news', prompt: 'Tell me what happened today.' },
  ]) {
    await call('PATCH', `/api/tasks/${id}`, { by: alice, body: change });
    const changes = Object.entries(change).map(([field, to]) => [field, { from: before[field], to }]);
    const task = { id, name: change.name ?? name, updatedAt: INSTANT };
    assertEvents(t, await receive(), { 'task.updated': { task, changes: Object.fromEntries(changes) } });
  }
  await call('DELETE', `/api/tasks/${id}`, { by: alice });
  assertEvents(t, await receive(), { 'task.deleted': { task: { id, name: 'Evening news', deletedAt: INSTANT } } });
});

t.test('A completed run', async (t) => {
  const id = await createTask();
  await receive();
  for (const text of ['Nothing.', 'Nothing.']) {
    ai.answer(() => ({ text }));
    assertEvents(t, await run(id), ended(id, completed(id)));
  }
  ai.answer(() => ({ text: 'A fire.' }));
  const changes = [{ path: '', from: 'Nothing.', to: 'A fire.' }];
  const expected = { ...ended(id, completed(id)), 'task.changed': completed(id, { changed: true, changes }) };
  assertEvents(t, await run(id), expected);

  const watched = await createTask({ notify: 'change' });
  await receive();
  assertEvents(t, await run(watched), ended(watched, completed(watched)));
  const same = completed(watched, { changed: false, changes: (value: unknown[]) => value.length === 0 });
  assertEvents(t, await run(watched), ended(watched, same));
});

t.test('A failed run, and its retry', async (t) => {
  const id = await createTask();
  await receive();
  ai.answer(() => ({ status: 503 }));
  const failed = (rest: object) => ({
    task: { id, name, status: 'active' },
    execution: {
      id: INTEGER,
      status: 'failed',
      error: TEXT,
      errorCode: 'PROVIDER_UNAVAILABLE',
      startedAt: INSTANT,
      failedAt: INSTANT,
      processingTimeMs: INTEGER,
    },
    ...rest,
  });
  const data = failed({ retryScheduled: true, nextRetryAt: INSTANT });
  const begun = { 'task.started': started(id), 'execution.started': started(id) };
  assertEvents(t, await run(id), { ...begun, 'task.failed': data, 'execution.failed': data });
  ai.answer(() => ({}));
});

t.test('A test', async (t) => {
  receiver.received.length = 0;
  await call('POST', `/api/webhooks/${webhook.id}/test`, { by: alice });
  assertEvents(t, receiver.received, { test: { message: TEXT, testId: TEXT } });
});

t.test('Each delivery has the specified headers, and a request id of its own', async (t) => {
  receiver.answer(500);
  const headers = { 'x-request-id': 'the-request-that-caused-it' };
  const body = { ...TASK, name: 'Late news' };
  await call('POST', '/api/agent/create-task', { by: alice, body, headers });
  const first = [...(await receive())];
  t.same(first.map(({ path }) => path).sort(), ['/one', '/two']);
  receiver.answer(200);
  clock.advance(60_000);
  const retried = [...(await receive())];
  const ids = new Set(first.map((delivery) => delivery.headers['x-request-id']));
  t.equal(ids.size, 2);
  t.notOk(ids.has('the-request-that-caused-it'));
  for (const [attempt, deliveries] of [first, retried].entries()) {
    for (const { path, headers, body } of deliveries) {
      const { id, secret } = path === '/one' ? webhook : other;
      t.match(headers, {
        'content-type': 'application/json',
        'user-agent': 'Carillon-Webhook/1.0',
        'x-webhook-id': id,
        'x-webhook-signature': computeSignature(secret, body),
        'x-request-id': TEXT,
        'x-event-type': 'task.created',
        'x-delivery-attempt': String(attempt + 1),
      });
      t.equal('x-previous-attempt' in headers, attempt === 1);
    }
  }
});
