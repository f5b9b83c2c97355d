import { coupons, notifications, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { insertAlert } from '../support/alerts.ts';
import { CHANNEL } from '../support/channels.ts';
import { testContext } from '../support/context.ts';
import { connectProgram } from '../support/oauth-client.ts';
import { signUpAda } from '../support/people.ts';
import { insertEndedRuns, readRuns } from '../support/task-rows.ts';
import { postTask } from '../support/tasks.ts';
import { postWebhook, WEBHOOK } from '../support/webhooks.ts';

const { app, ctx } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1000', DASHBOARD: 'true' } });
const document = (await app.inject('/api/docs/json')).json();
const ada = await signUpAda(app);
const { headers } = ada;

const post = async (url: string, payload: object = {}) =>
  (await app.inject({ method: 'POST', url, headers, payload })).json();
const taskId = await postTask(app, ada);
const webhook = await postWebhook(app, ada, WEBHOOK);
await insertEndedRuns(ctx, { taskId, userId: ada.id, count: 2 });
const [, { id: executionId }] = (await readRuns(ctx, taskId)) as [unknown, { id: number }];
const { key } = await post('/api/keys', { name: 'Backup job', scopes: ['tasks:read'] });
const { secret } = await post('/api/secrets', { name: 'a', host: 'a.example', header: 'X-Key', value: 'b' });
await connectProgram(app, ada);
const [connected] = (await app.inject({ url: '/api/user/apps', headers })).json().apps;
const { delivery } = await post(`/api/webhooks/${webhook.id}/test`);
const { channel } = await post('/api/channels', CHANNEL);
const sent = (await post(`/api/channels/${channel.id}/test`)).delivery;
const alert = await post('/api/usage/alerts', { threshold: 80, notifyEmail: true, notifyWebhook: true });
await post('/api/admin/coupons', { value: 7 });
const { provider } = await post('/api/admin/providers', {
  name: 'local',
  kind: 'openai',
  baseUrl: 'http://127.0.0.1:9/v1',
});
const text = { kind: 'task.failed', title: 'A', message: 'B', createdAt: ctx.now() };
await ctx.db.insert(notifications).values({ userId: ada.id, ...text });
const [session] = (await app.inject({ url: '/api/auth/sessions', headers })).json().sessions;
const idOf = async (table: typeof coupons | typeof notifications) =>
  (await ctx.db.select({ id: table.id }).from(table))[0]?.id;

/** The existing rows by the beginning of the path. */
const ROWS: Record<string, unknown> = {
  '/api/tasks/{id}': taskId,
  '/api/executions/{id}': executionId,
  '/api/alerts/{id}': await insertAlert(ctx, { taskId, userId: ada.id }),
  '/api/notifications/{id}': await idOf(notifications),
  '/api/usage/alerts/{id}': alert.alert.id,
  '/api/admin/coupons/{id}': await idOf(coupons),
  '/api/admin/providers/{id}': provider.id,
  '/api/admin/users/{id}': ada.id,
  '/api/webhooks/{id}': webhook.id,
  '/api/webhooks/{userId}': ada.id,
  '/api/channels/{id}': channel.id,
  '/api/auth/sessions/{id}': session.id,
  '/api/keys/{id}': key.id,
  '/api/secrets/{id}': secret.id,
  '/api/user/apps/{id}': connected.id,
  '/api/user/factors/{id}': (await post('/api/user/factors/totp')).factor.id,
};

const operations = Object.entries<Record<string, { requestBody?: { content: Record<string, { example?: object }> } }>>(
  document.paths,
).flatMap(([path, methods]) => {
  const row = Object.keys(ROWS).find((start) => path === start || path.startsWith(`${start}/`));
  if (row === undefined) return [];
  return Object.entries(methods).map(([method, { requestBody }]) => ({
    method: method.toUpperCase() as 'GET',
    // The spelling of the first id is left to the test.
    buildUrl: (id: unknown) =>
      path
        .replace(/\{(id|userId)\}/, String(id))
        .replace('{deliveryId}', path.startsWith('/api/channels') ? sent.id : delivery.id)
        .replace('{logId}', path.startsWith('/api/channels') ? sent.id : delivery.id)
        .replace('{number}', '1')
        .replace('{secret}', webhook.secret),
    id: ROWS[row],
    payload: Object.values(requestBody?.content ?? {})[0]?.example,
  }));
});

t.test('Each path with an id was tried, on a row that exists', async (t) => {
  const withId = Object.keys(document.paths).filter((path) => /\{(id|userId|deliveryId)\}/.test(path));
  const tried = Object.keys(ROWS).flatMap((row) => withId.filter((path) => path === row || path.startsWith(`${row}/`)));
  t.same(tried.toSorted(), withId.toSorted());
  t.ok(operations.length >= 29, String(operations.length));
  for (const { method, buildUrl, id } of operations) {
    if (method !== 'GET') continue;
    t.equal((await app.inject({ url: buildUrl(id), headers })).statusCode, 200, buildUrl(id));
  }
});

t.test('An id has one spelling: any other one is not found, by any operation', async (t) => {
  for (const { method, buildUrl, id, payload } of operations) {
    const spellings = [
      `0${id}`,
      `00${id}`,
      `+${id}`,
      `%20${id}`,
      `${id}%20`,
      `${id}.0`,
      `${id}e0`,
      `-${id}`,
      `0x${id}`,
    ];
    for (const spelling of spellings) {
      const url = buildUrl(spelling);
      const answer = await app.inject({ method, url, headers, ...(payload && { payload }) });
      t.equal(answer.statusCode, 404, `${method} ${url}`);
    }
  }
  t.equal(await ctx.db.$count(users, eq(users.id, ada.id)), 1);
});
