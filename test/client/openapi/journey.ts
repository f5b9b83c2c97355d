import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
// Generated from the document that the API serves: openapi-client.test.ts puts both into a folder of their own.
import type { components, paths } from './api.ts';

/*
 * A program of a consumer, with a client whose types come from the OpenAPI document. The compiler checks it first: it fails
 * if the document no longer declares a used field as required or nullable.
 */

const [baseUrl = ''] = process.argv.slice(2);
type Schemas = components['schemas'];

const api = createClient<paths, 'application/json'>({ baseUrl });
const credentials = { email: 'alice@example.com', password: 'correct-Horse-7' };

await signIn();
const taskIds = [await createTask('Morning sentence'), await createTask('Evening sentence')];
await previewSchedule();
await readPages();
const executionId = await runTask();
await readExecution();
await attachUpload();
await testWebhook();
await askAgent();
await expectErrors();
await signOut();
await expectRateLimit();
console.log('All calls worked.');

/** Returns the body of a successful response; throws for any other. */
function unwrap<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(`unexpected error: ${JSON.stringify(error)}`);
  return data;
}

async function signIn() {
  const { user } = unwrap(await api.POST('/api/auth/register', { body: { name: 'Alice', ...credentials } }));
  const session = unwrap(
    await api.POST('/api/auth/login', {
      params: { header: { 'x-request-token': 'true' } },
      body: credentials,
    }),
  );
  assert.equal(session.user.id, user.id);
  const token: string | undefined = session.token;
  api.use({
    onRequest({ request }) {
      request.headers.set('authorization', `Bearer ${token}`);
    },
  });
  const who = unwrap(await api.GET('/api/auth/session'));
  const timezone: string | null = who.user.timezone;
  assert.equal(timezone, null);
}

async function createTask(name: string): Promise<number> {
  const body = {
    name,
    prompt: 'Write one sentence that begins a working day well.',
    scheduledFor: '2099-01-31T07:30:00Z',
    recurrence: 'monthly',
    timezone: 'Europe/Lisbon',
  } as const;
  const { taskId } = unwrap(await api.POST('/api/agent/create-task', { body }));
  const { task } = unwrap(await api.GET('/api/tasks/{id}', { params: { path: { id: taskId } } }));
  assert.deepEqual([task.name, task.status, task.description], [name, 'active', null]);
  assert.equal(task.nextExecutionAt, '2099-01-31T07:30:00.000Z');
  return taskId;
}

async function previewSchedule() {
  const { occurrences } = unwrap(
    await api.POST('/api/tasks/preview', {
      body: { scheduledFor: '2099-01-31T07:30:00Z', recurrence: 'monthly', timezone: 'Europe/Lisbon', count: 2 },
    }),
  );
  const notes: (string | undefined)[] = occurrences.map(({ note }) => note);
  assert.match(notes[1] ?? '', /has no day 31/);
}

async function readPages() {
  const seen: number[] = [];
  let cursor: string | null = null;
  do {
    const page: Schemas['Task'][] = [];
    const query: { limit: number; cursor?: string } = { limit: 1, ...(cursor === null ? {} : { cursor }) };
    const { tasks, pagination } = unwrap(await api.GET('/api/tasks', { params: { query } }));
    page.push(...tasks);
    seen.push(...page.map(({ id }) => id));
    cursor = pagination.nextCursor;
  } while (cursor !== null);
  assert.deepEqual(seen, taskIds.toReversed());
}

async function runTask(): Promise<number> {
  const path = { id: taskIds[0] ?? 0 };
  const started = unwrap(await api.POST('/api/tasks/{id}/execute', { params: { path } }));
  assert.equal(started.status, 'pending');
  for (;;) {
    const { execution } = unwrap(
      await api.GET('/api/executions/{id}', { params: { path: { id: started.executionId } } }),
    );
    if (execution.completedAt !== null) return execution.id;
    // Polls, slower than the rate limit of this operation.
    await sleep(500);
  }
}

async function readExecution() {
  const { execution } = unwrap(
    await api.GET('/api/executions/{id}/details', { params: { path: { id: executionId } } }),
  );
  assert.equal(execution.status, 'completed');
  assert.equal(execution.metadata.tokens?.total, execution.tokens?.total);
  assert.ok(execution.logs.some(({ message }) => message.startsWith('Completed')));
  const { executions } = unwrap(await api.GET('/api/executions', { params: { query: { status: 'completed' } } }));
  assert.deepEqual(
    executions.map(({ id, result }) => [id, result]),
    [[executionId, execution.result]],
  );
}

async function attachUpload() {
  const answer = await api.POST('/api/upload', {
    body: { file: 'day,visits\n2026-11-20,131\n' },
    bodySerializer({ file }) {
      const form = new FormData();
      form.set('file', new File([file], 'visits.csv', { type: 'text/csv' }));
      return form;
    },
  });
  const uploaded = unwrap(answer);
  const id = answer.response.headers.get('x-file-id') ?? '';
  assert.deepEqual([uploaded.name, uploaded.size, uploaded.type], ['visits.csv', 26, 'text/csv']);
  const path = { id: taskIds[0] ?? 0 };
  const { task } = unwrap(
    await api.PATCH('/api/tasks/{id}', { params: { path }, body: { attachments: [id], description: null } }),
  );
  assert.deepEqual(task.attachments, [id]);
  assert.deepEqual(unwrap(await api.DELETE('/api/upload', { body: { id } })), { success: true });
}

async function testWebhook() {
  const { webhook } = unwrap(
    await api.POST('/api/webhooks', { body: { url: `${baseUrl}/nothing`, events: ['task.completed', 'task.failed'] } }),
  );
  assert.match(webhook.secret, /^whsec_/);
  const { success, delivery } = unwrap(
    await api.POST('/api/webhooks/{id}/test', { params: { path: { id: webhook.id } } }),
  );
  const statusCode: number | null = delivery.statusCode;
  assert.deepEqual([success, statusCode], [false, 404]);
}

async function askAgent() {
  const { response, suggestions } = unwrap(
    await api.POST('/api/agent/process', { body: { message: 'What should I look at first?' } }),
  );
  assert.ok(response.content.length > 0 && response.tokensUsed.total > 0);
  assert.ok(Array.isArray(suggestions));
  const { usage } = unwrap(await api.GET('/api/usage'));
  assert.equal(usage.executions.used, 2);
}

async function expectErrors() {
  const missing = await api.GET('/api/tasks/{id}', { params: { path: { id: 2_000_000_000 } } });
  assert.equal(missing.response.status, 404);
  assert.equal(missing.error?.error, 'Task not found');
  assert.ok(missing.response.headers.get('x-request-id'));

  const bad = await api.POST('/api/webhooks', { body: { url: 'nowhere', events: [] } });
  assert.equal(bad.response.status, 400);
  const { details } = bad.error as Schemas['ValidationError'];
  assert.deepEqual(Object.keys(details ?? {}).toSorted(), ['events', 'url']);

  const hooks = await Promise.all(
    [1, 2, 3].map(() => api.POST('/api/webhooks', { body: { url: `${baseUrl}/nothing`, events: ['test'] } })),
  );
  const over = hooks.find(({ response }) => response.status === 402);
  const quota = over?.error as Schemas['QuotaError'];
  const limit: number | null = quota.details.limit;
  assert.deepEqual([quota.error, quota.details.resource, limit], ['Quota exceeded', 'webhooks', 3]);
}

/** One sign-in is counted already. The window is 15 minutes, which is enough for a slow machine. */
async function expectRateLimit() {
  const wrong = { ...credentials, password: 'not-the-Password-9' };
  for (;;) {
    const { response, error } = await api.POST('/api/auth/login', { body: wrong });
    if (response.status === 401) continue;
    assert.equal(response.status, 429);
    const { details, retryAfter } = error as Schemas['RateLimitError'];
    assert.deepEqual([details.limit, details.remaining], [5, 0]);
    const seconds: number | undefined = retryAfter;
    assert.equal(response.headers.get('retry-after'), String(seconds));
    return;
  }
}

async function signOut() {
  const { success } = unwrap(await api.POST('/api/auth/logout'));
  assert.equal(success, true);
  const signedOut = await api.GET('/api/user');
  assert.equal(signedOut.response.status, 401);
  assert.equal(signedOut.error?.error, 'Unauthorized');
}
