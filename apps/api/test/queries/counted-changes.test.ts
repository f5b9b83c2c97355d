import type { OpenedSession } from '@carillon/contract/actions/web/index';
import { executions, notifications, queryRows, selectUserPosition } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { InjectOptions } from 'fastify';
import t from 'tap';
import { buildWebActions } from '../../src/actions/web/build.ts';
import { inTransaction } from '../../src/context.ts';
import { enqueueDue } from '../../src/executions/pipeline/enqueue.ts';
import { notifyUsers } from '../../src/notifications/write.ts';
import { TASK as ACTION_TASK, getData, testActions } from '../support/actions.ts';
import { CHANNEL, postChannel } from '../support/channels.ts';
import { testContext } from '../support/context.ts';
import { insertCoupon } from '../support/coupons.ts';
import { countStatements } from '../support/database.ts';
import { createKey } from '../support/keys.ts';
import { connect } from '../support/mcp.ts';
import { PASSWORD, type Person, signUp, signUpAda, signUpAlice } from '../support/people.ts';
import { insertProposal } from '../support/proposals.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { insertTask } from '../support/task-rows.ts';
import { postTask, TASK } from '../support/tasks.ts';
import { buildForm, FORM } from '../support/uploads.ts';
import { postWebhook, recordManyEvents, sendInbound } from '../support/webhooks.ts';

const { app, ctx } = await testContext(t, { readsReplica: true });
const receiver = await startReceiver(t);
const alice = await signUpAlice(app);
const ada = await signUpAda(app);
const task = await postTask(app, alice);
const feeds = await postTask(app, alice);
const webhook = await postWebhook(app, alice, { url: receiver.url });
const channel = await postChannel(app, alice, { url: receiver.url });
const key = await createKey(app, alice);
await recordManyEvents(ctx, alice.id, 1);

/** By the method and path of the operation: a request that succeeds. Default: Alice's. */
type Change = () => Promise<{ path?: string; payload?: object | Buffer; headers?: object; by?: Person }>;

const change =
  (payload?: object, path?: string): Change =>
  async () => ({ ...(payload && { payload }), ...(path && { path }) });
const by =
  (person: () => Promise<Person>, given: object): Change =>
  async () => ({ ...given, by: await person() });
const byAda =
  (path: () => Promise<string>, payload?: object): Change =>
  async () => ({
    path: await path(),
    ...(payload && { payload }),
    by: ada,
  });

async function runOnce(state: 'pending' | 'failed'): Promise<number> {
  const url = `/api/tasks/${task}/execute`;
  const { executionId } = (await app.inject({ method: 'POST', url, headers: alice.headers })).json();
  const failed = {
    status: 'failed',
    completedAt: ctx.now(),
    error: 'It failed.',
    errorCode: 'PROVIDER_ERROR',
  } as const;
  if (state === 'failed') await ctx.db.update(executions).set(failed).where(eq(executions.id, executionId));
  return executionId;
}

async function insertNotification(): Promise<number> {
  const notice = { userId: alice.id, kind: 'test', title: 'Hello', message: 'Alice', createdAt: ctx.now() };
  const [made] = await ctx.db.insert(notifications).values(notice).returning({ id: notifications.id });
  return made?.id ?? 0;
}

const testedDelivery = async (path: string) => {
  const tested = await app.inject({ method: 'POST', url: `${path}/test`, headers: alice.headers });
  return `${path}/logs/${tested.json().delivery.deliveryId}/redeliver`;
};

async function uploadFile() {
  const payload = buildForm({ name: 'notes.txt', type: 'text/plain', content: 'The bells ring.' });
  const answer = await app.inject({
    method: 'POST',
    url: '/api/upload',
    headers: { ...alice.headers, ...FORM },
    payload,
  });
  return answer.json();
}

const insertUsageAlert = async () => {
  const payload = { threshold: 90, notifyEmail: true, notifyWebhook: false };
  const answer = await app.inject({ method: 'POST', url: '/api/usage/alerts', headers: alice.headers, payload });
  return answer.json().alert.id;
};

async function openOtherSession(): Promise<string> {
  const payload = { email: alice.email, password: PASSWORD };
  await app.inject({ method: 'POST', url: '/api/auth/login', payload });
  const { sessions } = (await app.inject({ url: '/api/auth/sessions', headers: alice.headers })).json();
  return sessions.find((session: { current: boolean }) => !session.current).id;
}

const someone = () => signUp(app, { name: 'Carol' });

/** In their order: a channel is deleted after it has been changed. */
const CHANGES: Record<string, Change> = {
  'delete /api/auth/sessions/{id}': async () => ({ path: `/api/auth/sessions/${await openOtherSession()}` }),
  'patch /api/user': change({ name: 'Alice Liddell' }),
  'patch /api/user/settings': change({ notificationPreferences: { email: false } }),
  'post /api/user/password': by(someone, { payload: { currentPassword: PASSWORD, newPassword: 'Another-2026-word' } }),
  'patch /api/admin/users/{id}': byAda(async () => `/api/admin/users/${(await someone()).id}`, { plan: 'pro' }),
  'delete /api/admin/users/{id}': byAda(async () => `/api/admin/users/${(await someone()).id}`),
  'post /api/keys': change({ name: 'Another program', scopes: ['tasks:read'] }),
  'patch /api/keys/{id}': change({ name: 'The program' }, `/api/keys/${key.id}`),
  'delete /api/keys/{id}': change(undefined, `/api/keys/${key.id}`),
  'post /api/agent/create-task': change(TASK),
  'patch /api/tasks/{id}': change({ name: 'Other news' }, `/api/tasks/${task}`),
  'post /api/tasks/{id}/execute': change(undefined, `/api/tasks/${task}/execute`),
  'post /api/tasks/{id}/duplicate': change(undefined, `/api/tasks/${task}/duplicate`),
  'post /api/tasks/{id}/skip-next': change(undefined, `/api/tasks/${task}/skip-next`),
  'post /api/tasks/{id}/backfill': change(
    { from: '2026-11-18T00:00:00Z', to: '2026-11-20T00:00:00Z' },
    `/api/tasks/${task}/backfill`,
  ),
  'post /api/executions/{id}/retry': async () => ({ path: `/api/executions/${await runOnce('failed')}/retry` }),
  'post /api/executions/{id}/cancel': async () => ({ path: `/api/executions/${await runOnce('pending')}/cancel` }),
  'delete /api/tasks/{id}': async () => ({ path: `/api/tasks/${await postTask(app, alice)}` }),
  'post /api/tasks/{id}/feed': change(undefined, `/api/tasks/${feeds}/feed`),
  'delete /api/tasks/{id}/feed': change(undefined, `/api/tasks/${feeds}/feed`),
  'post /api/user/feed': change(),
  'delete /api/user/feed': change(),
  'post /api/agent/process': change({ message: 'Which day is it?' }),
  'post /api/agent/confirm-task': async () => ({ payload: { proposalId: await insertProposal(ctx, alice) } }),
  'post /api/webhooks': change({ url: 'https://hooks.example.com/other', events: ['task.deleted'] }),
  'patch /api/webhooks/{id}': change({ description: 'Mine' }, `/api/webhooks/${webhook.id}`),
  'post /api/webhooks/{id}/rotate-secret': change(undefined, `/api/webhooks/${webhook.id}/rotate-secret`),
  'post /api/webhooks/{id}/test': change(undefined, `/api/webhooks/${webhook.id}/test`),
  'post /api/webhooks/{id}/logs/{deliveryId}/redeliver': async () => ({
    path: await testedDelivery(`/api/webhooks/${webhook.id}`),
  }),
  'post /api/webhooks/{id}/redeliver': change(
    { since: '2026-11-20T00:00:00Z' },
    `/api/webhooks/${webhook.id}/redeliver`,
  ),
  'delete /api/webhooks/{id}': async () => ({ path: `/api/webhooks/${(await postWebhook(app, alice)).id}` }),
  'post /api/channels': change({ ...CHANNEL, name: 'Tablet' }),
  'patch /api/channels/{id}': change({ urgent: true }, `/api/channels/${channel.id}`),
  'post /api/channels/{id}/test': change(undefined, `/api/channels/${channel.id}/test`),
  'post /api/channels/{id}/logs/{deliveryId}/redeliver': async () => ({
    path: await testedDelivery(`/api/channels/${channel.id}`),
  }),
  'delete /api/channels/{id}': change(undefined, `/api/channels/${channel.id}`),
  'post /api/usage/alerts': change({ threshold: 80, notifyEmail: true, notifyWebhook: false }),
  'delete /api/usage/alerts/{id}': async () => ({ path: `/api/usage/alerts/${await insertUsageAlert()}` }),
  'post /api/notifications/{id}/read': async () => ({ path: `/api/notifications/${await insertNotification()}/read` }),
  'post /api/coupons/activate': async () => ({ payload: { code: (await insertCoupon(ctx)).code } }),
  'post /api/admin/coupons': byAda(async () => '/api/admin/coupons', {}),
  'patch /api/admin/coupons/{id}': byAda(async () => `/api/admin/coupons/${(await insertCoupon(ctx)).id}`, {
    isActive: false,
  }),
  'delete /api/admin/coupons/{id}': byAda(async () => `/api/admin/coupons/${(await insertCoupon(ctx)).id}`),
  'patch /api/admin/settings': byAda(async () => '/api/admin/settings', { maxTasksPerUser: 99 }),
  'post /api/upload': async () => ({
    payload: buildForm({ name: 'notes.txt', type: 'text/plain', content: 'The bells ring.' }),
    headers: FORM,
  }),
  'delete /api/upload': async () => ({ payload: { id: (await uploadFile()).id } }),
};

/** They change nothing that lists show, or end the account. */
const WITHOUT_CHANGES = [
  'post /api/auth/logout',
  'delete /api/user',
  'post /api/tasks/preview',
  'post /api/tasks/preview-prompt',
  'post /api/integrations/notes/validate',
  'post /api/integrations/design/validate',
];

async function readPosition({ id }: Pick<Person, 'id'>): Promise<number> {
  const [user] = await queryRows<{ position: number }>(
    ctx.db,
    sql`select ${selectUserPosition('u.id')} as position from users u where u.id = ${id}`,
  );
  return user?.position ?? 0;
}

t.test('Every operation of users and admins that changes something is known here', async (t) => {
  const { paths } = (await app.inject({ url: '/openapi.json' })).json();
  const changing = Object.entries<Record<string, { security: object[] }>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method, { security }]) => method !== 'get' && security.length > 0)
      .map(([method]) => `${method} ${path}`),
  );
  t.same([...Object.keys(CHANGES), ...WITHOUT_CHANGES].sort(), changing.sort());
});

t.test('What a user changes is counted with the change, so that no standby hides it', async (t) => {
  for (const [operation, prepare] of Object.entries(CHANGES)) {
    const [method = '', url = ''] = operation.split(' ');
    const { path = url, payload, headers = {}, by = alice } = await prepare();
    const before = await readPosition(by);
    const request = { method: method.toUpperCase(), url: path, headers: { ...by.headers, ...headers } };
    const answer = await app.inject({ ...request, ...(payload && { payload }) } as InjectOptions);
    t.ok(answer.statusCode < 300, `${operation}: ${answer.statusCode} ${answer.body.slice(0, 200)}`);
    t.ok((await readPosition(by)) > before, `${operation} is counted`);
  }
});

t.test('A sign-in and an inbound call count for their user', async (t) => {
  const before = await readPosition(alice);
  await openOtherSession();
  const signedIn = await readPosition(alice);
  t.ok(signedIn > before);
  const inbound = await postWebhook(app, alice, { url: 'https://hooks.example.com/inbound' });
  const created = await readPosition(alice);
  t.equal((await sendInbound(app, inbound, { taskId: task })).statusCode, 201);
  t.ok((await readPosition(alice)) > created);
});

t.test('What the worker adds to the lists of a user is counted for the user', async (t) => {
  const before = await readPosition(alice);
  await insertTask(ctx, alice.id);
  await enqueueDue(ctx);
  const enqueued = await readPosition(alice);
  t.ok(enqueued > before, 'a planned run');
  const notice = { userId: alice.id, kind: 'test', title: 'Hello', message: 'Alice' };
  await inTransaction(ctx, (tx) => notifyUsers(tx, [notice]));
  t.ok((await readPosition(alice)) > enqueued, 'a notification');
});

t.test('Users may delete their accounts', async (t) => {
  const { headers, id } = await someone();
  const payload = { currentPassword: PASSWORD };
  t.equal((await app.inject({ method: 'DELETE', url: '/api/user', headers, payload })).statusCode, 200);
  t.equal(await readPosition({ id }), 0);
});

t.test('Further pages of a list of all users come from the primary, so that none is skipped', async (t) => {
  const list = async (query: string) => {
    const before = ctx.db.replica?.outcomes().answered ?? 0;
    const answer = await app.inject({ url: `/api/admin/audit?limit=2${query}`, headers: ada.headers });
    return { ...answer.json().pagination, answered: (ctx.db.replica?.outcomes().answered ?? 0) - before };
  };
  const first = await list('');
  t.equal(first.answered, 2, 'a page and the total');
  t.match(await list(`&cursor=${first.nextCursor}`), { limit: 2, answered: 0 });
});

t.test('A page of a list takes one statement at the primary, and one with its check at the standby', async (t) => {
  const { replica } = ctx.db;
  if (!replica) throw new Error('There is no replica.');
  const { headers } = await createKey(app, alice, { scopes: ['tasks:read', 'executions:read'] });
  for (const { headers: credentials } of [alice, { headers }]) {
    for (const url of ['/api/tasks', '/api/executions', '/api/tasks?limit=1']) {
      const list = () => app.inject({ url, headers: credentials });
      // A session is touched once a minute, and statements are prepared.
      await list();
      const before = replica.outcomes().answered;
      const count = countStatements(ctx.db);
      t.equal((await list()).statusCode, 200);
      t.equal(count(), 1, url);
      t.equal(replica.outcomes().answered, before + 1, url);
    }
  }
});

t.test('Server actions, pages and assistants count changes and read from standbys, too', async (t) => {
  const { replica } = ctx.db;
  if (!replica) throw new Error('There is no replica.');
  const server = testActions(ctx);
  const pages = buildWebActions(ctx);
  const opened = await getData(pages.openSession(alice.token, { address: '127.0.0.1' }) as never);
  const { session } = opened as { session: OpenedSession };
  const assistant = await connect(
    new URL('/mcp', await app.listen({ host: '127.0.0.1', port: 0 })),
    (await createKey(app, alice)).headers,
  );
  t.teardown(() => assistant.close());
  const when = { scheduledFor: '2027-01-01T17:00', recurrence: 'weekly', timezone: 'Europe/Lisbon' };
  const mcpTask = { ...when, name: 'Moons', prompt: 'Name a moon of Saturn.' };
  const changes: [string, () => Promise<object>][] = [
    ['createTask', () => server.createTask(alice.token, ACTION_TASK)],
    ['readAllNotifications', async () => pages.readAllNotifications(session, { until: await insertNotification() })],
    ['create_task', () => assistant.callTool({ name: 'create_task', arguments: mcpTask })],
  ];
  for (const [name, run] of changes) {
    const before = await readPosition(alice);
    t.match(await run(), name === 'create_task' ? { structuredContent: Object } : { success: true }, name);
    t.ok((await readPosition(alice)) > before, `${name} is counted`);
  }
  const reads: [string, () => Promise<object>][] = [
    ['getExecutions', () => server.getExecutions(alice.token)],
    ['getTaskList', () => pages.getTaskList(session, { sort: 'newest' })],
    ['list_tasks', () => assistant.callTool({ name: 'list_tasks', arguments: {} })],
  ];
  for (const [name, run] of reads) {
    const before = replica.outcomes().answered;
    t.match(await run(), name === 'list_tasks' ? { structuredContent: Object } : { success: true }, name);
    t.ok(replica.outcomes().answered > before, `${name} is answered by the standby`);
  }
});
