import { notifications } from '@carillon/db';
import t, { type Test } from 'tap';
import { createWorker } from '../../src/entry/worker.ts';
import { composeReset } from '../../src/product/auth/password-reset.ts';
import { CRON_SECRET, testContext } from '../support/context.ts';
import { type Answer, assertExact, INSTANT, INTEGER, openCalls, TEXT } from '../support/exact-body.ts';
import { PASSWORD, type Person, signUp, signUpAda, signUpAlice } from '../support/people.ts';
import { startFigmaServer } from '../support/servers/figma-server.ts';
import { getResetToken } from '../support/servers/mail-server.ts';
import { notionBot, startNotionServer } from '../support/servers/notion-server.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { TASK } from '../support/tasks.ts';
import { computeSignature, inboundPath } from '../support/webhooks.ts';

/* The bodies of success that interface.md and its decisions list, field by field, over HTTP. */

const notion = await startNotionServer(t, { ntn_workspace: notionBot() });
const figma = await startFigmaServer(t, { figd_good: {} });
const receiver = await startReceiver(t);
const { app, ctx } = await testContext(t, { env: { NOTES_API_URL: notion.url, DESIGN_API_URL: figma.url } });
const call = await openCalls(app);
const alice = await signUpAlice(app);
const ada = await signUpAda(app);

const success = true;
const either =
  (...accepted: unknown[]) =>
  (value: unknown) =>
    accepted.some((one) =>
      one instanceof RegExp ? typeof value === 'string' && one.test(value) : Object.is(one, value),
    );
const nullOr = (pattern: RegExp) => either(null, pattern);
const BOOLEAN = either(true, false);
const PERCENT = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 100;
const NUMBER = (value: unknown) => typeof value === 'number';

function assertAnswer(t: Test, answer: Answer, status: number, body: object, name: string): void {
  t.equal(answer.status, status, name);
  assertExact(t, answer.body, body, name);
}

/** The fields of the specification; a task, an execution and usage may have others beside them. */
const pick = (from: Record<string, unknown>, like: object) =>
  Object.fromEntries(Object.keys(like).map((name) => [name, from[name]]));

const done = { success, message: TEXT };

t.test('Health', async (t) => {
  const health = { status: TEXT, timestamp: INSTANT, version: TEXT, uptime: INTEGER };
  assertAnswer(t, await call('GET', '/api/health'), 200, health, 'health');
});

t.test('Accounts and sessions', async (t) => {
  const [name, email] = ['Carol', 'carol@example.com'];
  const registered = await call('POST', '/api/auth/register', { body: { name, email, password: PASSWORD } });
  const made = { success, user: { id: INTEGER, email, name, createdAt: INSTANT } };
  assertAnswer(t, registered, 201, made, 'register');
  const { id } = registered.body.user;
  const logIn = (headers = {}) => call('POST', '/api/auth/login', { headers, body: { email, password: PASSWORD } });
  const signedIn = { success, user: { id, email, name, role: 'USER' } };
  const login = await logIn();
  assertAnswer(t, login, 200, signedIn, 'login');
  const cookie = login.headers.getSetCookie()[0] ?? '';
  for (const part of ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax', 'Max-Age=604800']) t.match(cookie, part);
  const withToken = await logIn({ 'x-request-token': 'true' });
  assertAnswer(t, withToken, 200, { ...signedIn, token: TEXT }, 'login with a token');
  const headers = { cookie: cookie.split(';')[0] ?? '' };
  const user = { id, email, name, role: 'USER', timezone: null, createdAt: INSTANT };
  assertAnswer(t, await call('GET', '/api/auth/session', { headers }), 200, { authenticated: true, user }, 'session');
  const loggedOut = await call('POST', '/api/auth/logout', { headers });
  assertAnswer(t, loggedOut, 200, done, 'logout');
  t.match(loggedOut.headers.getSetCookie()[0], 'Max-Age=0');
  assertAnswer(t, await call('POST', '/api/auth/forgot-password', { body: { email } }), 200, done, 'forgot-password');
  const token = getResetToken({ text: (await composeReset(ctx, email))?.link });
  const validated = await call('GET', `/api/auth/validate-reset-token?token=${token}`);
  assertAnswer(t, validated, 200, { valid: true, userId: id }, 'validate-reset-token');
  const reset = await call('POST', '/api/auth/reset-password', { body: { token, newPassword: 'Another-2026' } });
  assertAnswer(t, reset, 200, done, 'reset-password');
});

t.test('Current user', async (t) => {
  const stats = { totalTasks: INTEGER, activeTasks: INTEGER, totalExecutions: INTEGER, successRate: PERCENT };
  const { id, name, email } = alice;
  const user = { id, identityUserId: /^local:/, email, name, role: 'USER', timezone: null, isActive: true };
  const profile = { success, user: { ...user, trialEndsAt: INSTANT, createdAt: INSTANT, stats } };
  assertAnswer(t, await call('GET', '/api/user', { by: alice }), 200, profile, 'user');
  const changed = { success, user: { id, name, timezone: nullOr(TEXT), updatedAt: INSTANT } };
  for (const body of [
    {},
    { timezone: 'Europe/Lisbon' },
    { encryptedProviderKey: 'sk-own' },
    { email: 'alice.new@example.com', currentPassword: PASSWORD },
  ]) {
    assertAnswer(t, await call('PATCH', '/api/user', { by: alice, body }), 200, changed, JSON.stringify(body));
  }
});

t.test('Tasks and executions', async (t) => {
  const by = await signUp(app);
  const created = await call('POST', '/api/agent/create-task', { by, body: TASK });
  assertAnswer(t, created, 201, { success, taskId: INTEGER }, 'create-task');
  const { taskId: id } = created.body;
  const task = {
    id,
    userId: by.id,
    ...TASK,
    description: null,
    nextExecutionAt: nullOr(INSTANT),
    recurrencePattern: null,
    aiModel: TEXT,
    maxTokens: 1024,
    temperature: 70,
    status: 'active',
    executionCount: INTEGER,
    lastExecutionAt: nullOr(INSTANT),
    createdAt: INSTANT,
    updatedAt: INSTANT,
  };
  for (const answer of [
    await call('GET', `/api/tasks/${id}`, { by }),
    await call('PATCH', `/api/tasks/${id}`, { by, body: { status: 'active' } }),
  ]) {
    assertAnswer(
      t,
      { ...answer, body: { ...answer.body, task: pick(answer.body.task, task) } },
      200,
      { success, task },
      'task',
    );
  }
  const page = { total: 1, limit: 20, offset: 0, hasMore: false, nextCursor: null };
  const tasks = await call('GET', '/api/tasks', { by });
  t.same(Object.keys(tasks.body), ['success', 'tasks', 'pagination']);
  assertExact(t, tasks.body.pagination, page, 'pagination of tasks');
  const queued = await call('POST', `/api/tasks/${id}/execute`, { by });
  const { executionId } = queued.body;
  assertAnswer(t, queued, 201, { success, executionId: INTEGER, status: 'pending', startedAt: INSTANT }, 'execute');
  await createWorker(ctx).drain();
  const execution = {
    id: executionId,
    taskId: id,
    userId: by.id,
    status: 'completed',
    result: TEXT,
    error: null,
    tokensUsed: INTEGER,
    processingTimeMs: INTEGER,
    createdAt: INSTANT,
    completedAt: INSTANT,
  };
  const shown = await call('GET', `/api/executions/${executionId}`, { by });
  t.same(Object.keys(shown.body), ['success', 'execution']);
  assertExact(t, pick(shown.body.execution, execution), execution, 'execution');
  const executions = await call('GET', '/api/executions', { by });
  t.same(Object.keys(executions.body), ['success', 'executions', 'pagination']);
  assertExact(t, executions.body.pagination, page, 'pagination of executions');
  const { scheduledFor, recurrence, timezone } = TASK;
  const preview = await call('POST', '/api/tasks/preview', {
    by,
    body: { scheduledFor, recurrence, timezone, count: 2 },
  });
  assertAnswer(t, preview, 200, { success, occurrences: [{ at: INSTANT, local: TEXT }] }, 'preview');
  assertAnswer(t, await call('DELETE', `/api/tasks/${id}`, { by }), 200, done, 'delete');
});

t.test('Agent mode', async (t) => {
  const tokensUsed = { input: INTEGER, output: INTEGER, total: INTEGER };
  const response = { content: TEXT, tokensUsed, model: TEXT, processingTimeMs: INTEGER };
  for (const message of ['Name a moon.', 'Every day at 9, name a moon.']) {
    const answer = await call('POST', '/api/agent/process', { by: alice, body: { message } });
    assertAnswer(t, answer, 200, { success, response, suggestions: [TEXT] }, message);
  }
});

t.test('Usage', async (t) => {
  const alert = { threshold: 80, notifyEmail: true, notifyWebhook: false };
  const set = await call('POST', '/api/usage/alerts', { by: alice, body: alert });
  assertAnswer(t, set, 200, { success, alert: { id: INTEGER, ...alert } }, 'alert');
  const quota = { used: INTEGER, limit: INTEGER, remaining: INTEGER, percentage: PERCENT };
  const usage = {
    period: /^\d{4}-\d\d$/,
    executions: quota,
    tokens: quota,
    storage: { usedBytes: INTEGER, limitBytes: INTEGER, usedMB: NUMBER, limitMB: 100, percentage: PERCENT },
    rateLimits: { hitToday: 0, endpoints: (value: unknown) => Array.isArray(value) && value.length === 0 },
    daily: { executions: quota, tokens: quota },
  };
  const { status, body } = await call('GET', '/api/usage', { by: alice });
  t.same([status, Object.keys(body)], [200, ['success', 'usage']]);
  assertExact(t, pick(body.usage, usage), usage, 'usage');
});

t.test('Uploads', async (t) => {
  const form = new FormData();
  form.set('file', new File(['hello'], 'a.txt', { type: 'text/plain' }));
  const uploaded = await call('POST', '/api/upload', { by: alice, body: form });
  const record = { url: /^data:/, name: 'a.txt', size: 5, type: 'text/plain', uploadedAt: INSTANT, storage: 'base64' };
  assertAnswer(t, uploaded, 200, record, 'upload');
  t.match(uploaded.headers.get('x-file-id'), /^[0-9a-f-]{36}$/);
  const removed = await call('DELETE', '/api/upload', { by: alice, body: { url: uploaded.body.url } });
  assertAnswer(t, removed, 200, { success }, 'delete');
});

t.test('Integration checks', async (t) => {
  const validate = (tool: string, body: object) =>
    call('POST', `/api/integrations/${tool}/validate`, { by: alice, body });
  const workspace = { name: TEXT, owner: TEXT, id: TEXT };
  assertAnswer(t, await validate('notes', { apiKey: 'ntn_workspace' }), 200, { valid: true, workspace }, 'notes');
  const user = { name: TEXT, email: TEXT, id: TEXT };
  assertAnswer(t, await validate('design', { token: 'figd_good' }), 200, { valid: true, user }, 'design');
});

t.test('Coupons', async (t) => {
  const by = ada;
  const path = '/api/admin/coupons';
  const created = await call('POST', path, { by, body: { maxUses: 5, expiresAt: null } });
  const { id, code } = created.body.data;
  const fresh = {
    ...{ id: INTEGER, code: TEXT, type: 'TRIAL_EXTENSION', value: 14, isActive: true, maxUses: 5, usedCount: 0 },
    ...{ expiresAt: null, createdByEmail: ada.email, createdAt: INSTANT },
  };
  assertAnswer(t, created, 201, { success, data: fresh, message: TEXT }, 'create');
  const activated = await call('POST', '/api/coupons/activate', { by: alice, body: { code } });
  const coupon = { code, type: 'TRIAL_EXTENSION', value: 14, appliedAt: INSTANT };
  assertAnswer(t, activated, 200, { ...done, coupon, user: { trialEndsAt: INSTANT } }, 'activate');
  const shown = { ...fresh, usedCount: 1, updatedAt: INSTANT };
  assertAnswer(t, await call('GET', `${path}/${id}`, { by }), 200, { success, coupon: shown }, 'get');
  const listed = {
    coupons: [shown],
    stats: { totalCoupons: 1, activeCoupons: 1, totalUses: 1 },
    pagination: { limit: 50, offset: 0, total: 1 },
  };
  assertAnswer(t, await call('GET', path, { by }), 200, { success, data: listed }, 'list');
  const usage = {
    success,
    usage: [{ userId: alice.id, userEmail: alice.email, userName: alice.name, usedAt: INSTANT }],
    summary: { totalUses: 1, maxUses: 5, remainingUses: 4 },
  };
  assertAnswer(t, await call('GET', `${path}/${id}/usage`, { by }), 200, usage, 'usage');
  const changed = { id, isActive: true, maxUses: 5, updatedAt: INSTANT };
  for (const [body, expected] of [
    [{}, changed],
    [
      { isActive: false, maxUses: null },
      { ...changed, isActive: false, maxUses: null },
    ],
    [{ expiresAt: null }, { ...changed, isActive: false, maxUses: null, expiresAt: null }],
  ] as const) {
    const answer = await call('PATCH', `${path}/${id}`, { by, body });
    assertAnswer(t, answer, 200, { success, coupon: expected }, JSON.stringify(body));
  }
  assertAnswer(t, await call('DELETE', `${path}/${id}`, { by }), 200, done, 'delete');
});

t.test('Administration', async (t) => {
  const by = ada;
  const count = INTEGER;
  const stats = {
    users: { total: count, active: count, inactive: count, newLast30Days: count },
    tasks: { total: count, active: count, inactive: count },
    executions: {
      total: count,
      last30Days: count,
      byStatus: { completed: count, failed: count, pending: count, running: count },
      successRate: PERCENT,
    },
    coupons: { total: count, active: count, inactive: count },
    topUsers: [{ userId: count, userName: TEXT, userEmail: TEXT, executionCount: count }],
  };
  const task = await call('POST', '/api/agent/create-task', { by: alice, body: TASK });
  await call('POST', `/api/tasks/${task.body.taskId}/execute`, { by: alice });
  await createWorker(ctx).drain();
  assertAnswer(t, await call('GET', '/api/admin/stats', { by }), 200, stats, 'stats');

  const user = {
    ...{ id: INTEGER, identityUserId: TEXT, email: TEXT, name: TEXT, role: either('USER', 'ADMIN'), isActive: true },
    ...{ trialEndsAt: nullOr(INSTANT), createdAt: INSTANT },
  };
  const list = await call('GET', '/api/admin/users?limit=2', { by });
  const users = [{ ...user, stats: { totalTasks: INTEGER, totalExecutions: INTEGER } }];
  const pagination = { total: INTEGER, limit: 2, offset: 0, pages: INTEGER };
  assertAnswer(t, list, 200, { success, data: { users, pagination } }, 'users');
  const details = {
    ...user,
    timezone: nullOr(TEXT),
    updatedAt: INSTANT,
    stats: {
      ...{ totalTasks: INTEGER, activeTasks: INTEGER, totalExecutions: INTEGER },
      ...{ successRate: PERCENT, failedExecutions: INTEGER },
    },
    recentActivity: [{ type: TEXT, timestamp: INSTANT, details: (value: unknown) => typeof value === 'object' }],
  };
  const path = `/api/admin/users/${alice.id}`;
  assertAnswer(t, await call('GET', path, { by }), 200, { success, user: details }, 'user');
  const changed = { id: alice.id, role: 'USER', isActive: true, trialEndsAt: nullOr(INSTANT), updatedAt: INSTANT };
  for (const body of [{}, { trialEndsAt: '2027-01-01T00:00:00.000Z' }, { plan: 'pro' }]) {
    const answer = await call('PATCH', path, { by, body });
    assertAnswer(t, answer, 200, { success, user: changed }, JSON.stringify(body));
  }
  const { id } = await signUp(app);
  assertAnswer(t, await call('DELETE', `/api/admin/users/${id}`, { by }), 200, done, 'delete');

  const settings = {
    ...{ trialDurationDays: 14, maxTasksPerUser: 100, maxExecutionsPerDay: 500 },
    ...{ defaultModel: TEXT, maintenanceMode: false },
  };
  assertAnswer(t, await call('GET', '/api/admin/settings', { by }), 200, { success, settings }, 'settings');
  for (const body of [{ trialDurationDays: 14 }, { maxTasksPerUser: 100, maintenanceMode: false }]) {
    const answer = await call('PATCH', '/api/admin/settings', { by, body });
    assertAnswer(t, answer, 200, { success, settings: { ...body, updatedAt: INSTANT } }, JSON.stringify(body));
  }
});

t.test('The scheduler trigger', async (t) => {
  const headers = { authorization: `Bearer ${CRON_SECRET}` };
  const answer = await call('GET', '/api/cron/scheduler', { headers });
  assertAnswer(t, answer, 200, { success, processed: 0, failed: 0, duration: INTEGER }, 'cron');
  t.match(answer.headers.get('x-next-due-at'), INSTANT);
});

t.test('Webhooks', async (t) => {
  const by: Person = await signUp(app);
  const body = { url: receiver.url, events: ['task.created'], description: 'Team chat' };
  const created = await call('POST', '/api/webhooks', { by, body });
  const { id, secret } = created.body.webhook;
  const own = { id: TEXT, userId: by.id, url: receiver.url, events: body.events, isActive: true, createdAt: INSTANT };
  assertAnswer(t, created, 201, { success, webhook: { ...own, secret: /^whsec_/ } }, 'create');
  const path = `/api/webhooks/${id}`;
  const shown = { ...own, purpose: 'subscription', taskId: null, description: 'Team chat', status: 'active' };
  for (const answer of [await call('GET', path, { by }), await call('PATCH', path, { by, body: { isActive: true } })])
    assertAnswer(t, answer, 200, { success, webhook: shown }, 'get and change');
  const pagination = { total: 1, limit: 20, offset: 0, hasMore: false };
  assertAnswer(t, await call('GET', '/api/webhooks', { by }), 200, { success, webhooks: [shown], pagination }, 'list');

  const log = {
    ...{ id: TEXT, webhookId: id, event: 'test', url: receiver.url, statusCode: 200, responseTime: INTEGER },
    ...{ attempt: 1, success: true, timestamp: INSTANT },
  };
  assertAnswer(t, await call('POST', `${path}/test`, { by }), 200, { success, delivery: log }, 'test');
  const logs = await call('GET', `${path}/logs?limit=10`, { by });
  assertAnswer(t, logs, 200, { success, logs: [log], pagination: { total: 1, limit: 10, offset: 0 } }, 'logs');
  const entry = await call('GET', `${path}/logs/${logs.body.logs[0].id}`, { by });
  assertAnswer(t, entry, 200, { success, log: { ...log, deliveryId: TEXT, error: null } }, 'log entry');
  const again = await call('POST', `${path}/logs/${entry.body.log.deliveryId}/redeliver`, { by });
  assertAnswer(t, again, 201, { success, deliveryId: entry.body.log.deliveryId }, 'redeliver');

  const inbound = inboundPath({ userId: by.id, secret });
  const about = { message: TEXT, userId: String(by.id), webhookId: id, acceptedEvents: body.events, isActive: true };
  assertAnswer(t, await call('GET', inbound), 200, about, 'inbound GET');
  const task = await call('POST', '/api/agent/create-task', { by, body: TASK });
  for (const [given, status, expected] of [
    [{}, 200, { success, received: true }],
    [{ taskId: task.body.taskId }, 201, { success, executionId: INTEGER }],
  ] as const) {
    const text = JSON.stringify(given);
    const headers = { 'x-webhook-signature': computeSignature(secret, text) };
    assertAnswer(t, await call('POST', inbound, { headers, body: text }), status, expected, 'inbound POST');
  }
  const rotated = await call('POST', `${path}/rotate-secret`, { by });
  assertAnswer(t, rotated, 200, { success, webhook: { id, secret: /^whsec_/ } }, 'rotate-secret');
  assertAnswer(t, await call('DELETE', path, { by }), 200, done, 'delete');
});

t.test('Notifications', async (t) => {
  const { id } = alice;
  const at = ctx.now();
  await ctx.db
    .insert(notifications)
    .values({ userId: id, kind: 'task.failed', title: 'T', message: 'M', createdAt: at });
  const list = await call('GET', '/api/notifications', { by: alice });
  const item = { id: INTEGER, kind: TEXT, title: TEXT, message: TEXT, readAt: null, createdAt: INSTANT };
  const pagination = { total: INTEGER, limit: 20, offset: 0, hasMore: BOOLEAN, nextCursor: null };
  assertAnswer(t, list, 200, { success, notifications: [item], pagination }, 'list');
  const read = await call('POST', `/api/notifications/${list.body.notifications[0].id}/read`, { by: alice });
  assertAnswer(t, read, 200, { success }, 'read');
});
