import { executions, idempotencyKeys, notifications } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { insertAlert } from '../../support/alerts.ts';
import { createAuthenticator } from '../../support/authenticator.ts';
import { CHANNEL, callChannel, postChannel } from '../../support/channels.ts';
import { testContext } from '../../support/context.ts';
import { listRoutes } from '../../support/contract/conformance.ts';
import { readServedDocument } from '../../support/contract/served-document.ts';
import { countStatements, countStatementsInTransactions } from '../../support/database.ts';
import { addTotp, post, readCode } from '../../support/factors.ts';
import { postWithKey, readKeys } from '../../support/idempotency.ts';
import { PASSWORD, type Person, signUp, signUpAda } from '../../support/people.ts';
import { insertProposal } from '../../support/proposals.ts';
import { startFigmaServer } from '../../support/servers/figma-server.ts';
import { notionBot, startNotionServer } from '../../support/servers/notion-server.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { insertEndedRuns, readRuns } from '../../support/task-rows.ts';
import { patchTask, postTask, TASK } from '../../support/tasks.ts';
import { callWebhook, postWebhook, readLog, WEBHOOK } from '../../support/webhooks.ts';

const notion = await startNotionServer(t, { ntn_key: notionBot() });
const figma = await startFigmaServer(t, { figd_token: {} });
const receiver = await startReceiver(t);
const env = { NOTES_API_URL: notion.url, DESIGN_API_URL: figma.url };
const { app, ctx } = await testContext(t, { env });
const ada = await signUpAda(app);
t.beforeEach(() => ctx.db.delete(idempotencyKeys));

type Prepared = [url: string, payload?: object, as?: Person];

const PROVIDER = { name: 'local', kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1' };

/** A request that succeeds, by route. */
const REQUESTS: Record<string, (alice: Person) => Promise<Prepared>> = {
  '/api/agent/create-task': async () => ['/api/agent/create-task', TASK],
  '/api/agent/confirm-task': async (alice) => [
    '/api/agent/confirm-task',
    { proposalId: await insertProposal(ctx, alice) },
  ],
  '/api/tasks/preview': async () => ['/api/tasks/preview', { ...TASK, name: undefined, prompt: undefined }],
  '/api/tasks/preview-sources': async () => [
    '/api/tasks/preview-sources',
    { sources: [{ name: 'page', url: 'http://127.0.0.1:9/' }] },
  ],
  '/api/tasks/preview-prompt': async () => ['/api/tasks/preview-prompt', { prompt: TASK.prompt }],
  '/api/tasks/:id/execute': async (alice) => [`/api/tasks/${await postTask(app, alice)}/execute`],
  '/api/tasks/:id/duplicate': async (alice) => [`/api/tasks/${await postTask(app, alice)}/duplicate`, { name: 'Copy' }],
  '/api/executions/:id/cancel': async (alice) => {
    const url = `/api/tasks/${await postTask(app, alice)}/execute`;
    const { executionId } = (await app.inject({ method: 'POST', url, headers: alice.headers })).json();
    return [`/api/executions/${executionId}/cancel`];
  },
  '/api/tasks/:id/versions/:number/restore': async (alice) => {
    const id = await postTask(app, alice);
    await patchTask(app, alice, id, { prompt: 'Another prompt.' });
    return [`/api/tasks/${id}/versions/1/restore`];
  },
  '/api/tasks/:id/skip-next': async (alice) => [`/api/tasks/${await postTask(app, alice)}/skip-next`],
  '/api/tasks/:id/backfill': async (alice) => {
    const period = { from: '2026-11-19T00:00:00Z', to: '2026-11-20T00:00:00Z' };
    return [`/api/tasks/${await postTask(app, alice)}/backfill`, period];
  },
  '/api/executions/:id/seen': async (alice) => {
    const taskId = await postTask(app, alice);
    await insertEndedRuns(ctx, { taskId, userId: alice.id, count: 1 });
    const [run] = await readRuns(ctx, taskId);
    return [`/api/executions/${run?.id}/seen`];
  },
  '/api/executions/seen': async () => ['/api/executions/seen', {}],
  '/api/alerts/:id/acknowledge': async (alice) => {
    const taskId = await postTask(app, alice);
    return [`/api/alerts/${await insertAlert(ctx, { taskId, userId: alice.id })}/acknowledge`];
  },
  '/api/executions/:id/retry': async (alice) => {
    const url = `/api/tasks/${await postTask(app, alice)}/execute`;
    const { executionId } = (await app.inject({ method: 'POST', url, headers: alice.headers })).json();
    await ctx.db
      .update(executions)
      .set({ status: 'failed', completedAt: ctx.now(), error: 'It failed.', errorCode: 'PROVIDER_ERROR' })
      .where(eq(executions.id, executionId));
    return [`/api/executions/${executionId}/retry`];
  },
  '/api/executions/:id/ask': async (alice) => {
    const taskId = await postTask(app, alice);
    await insertEndedRuns(ctx, { taskId, userId: alice.id, count: 1 });
    const [run] = await readRuns(ctx, taskId);
    return [`/api/executions/${run?.id}/ask`, { message: 'Why?' }];
  },
  '/api/agent/process': async () => ['/api/agent/process', { message: 'Name a moon.' }],
  '/api/webhooks': async () => ['/api/webhooks', WEBHOOK],
  '/api/webhooks/:id/rotate-secret': async (alice) => [
    `/api/webhooks/${(await postWebhook(app, alice)).id}/rotate-secret`,
  ],
  '/api/webhooks/:id/test': async (alice) => [
    `/api/webhooks/${(await postWebhook(app, alice, { url: receiver.url })).id}/test`,
  ],
  '/api/webhooks/:id/redeliver': async (alice) => [
    `/api/webhooks/${(await postWebhook(app, alice)).id}/redeliver`,
    { since: '2026-11-20T00:00:00.000Z' },
  ],
  '/api/webhooks/:id/logs/:deliveryId/redeliver': async (alice) => {
    const { id } = await postWebhook(app, alice, { url: receiver.url });
    await callWebhook(app, alice, 'POST', id, '/test');
    const [entry] = await readLog(app, alice, id);
    return [`/api/webhooks/${id}/logs/${entry?.deliveryId}/redeliver`];
  },
  '/api/channels': async () => ['/api/channels', { ...CHANNEL, url: receiver.url }],
  '/api/tasks/:id/feed': async (alice) => [`/api/tasks/${await postTask(app, alice)}/feed`],
  '/api/user/feed': async () => ['/api/user/feed'],
  // An empty file.
  '/api/user/import': async () => ['/api/user/import'],
  '/api/channels/:id/test': async (alice) => [
    `/api/channels/${(await postChannel(app, alice, { url: receiver.url })).id}/test`,
  ],
  '/api/channels/:id/logs/:deliveryId/redeliver': async (alice) => {
    const { id } = await postChannel(app, alice, { url: receiver.url });
    const { delivery } = (await callChannel(app, alice, 'POST', id, '/test')).json();
    return [`/api/channels/${id}/logs/${delivery.deliveryId}/redeliver`];
  },
  '/api/usage/alerts': async () => ['/api/usage/alerts', { threshold: 80, notifyEmail: true, notifyWebhook: false }],
  '/api/notifications/:id/read': async ({ id: userId }) => {
    const [row] = await ctx.db
      .insert(notifications)
      .values({ userId, kind: 'task.failed', title: 'Failed', message: 'It failed.', createdAt: ctx.now() })
      .returning({ id: notifications.id });
    return [`/api/notifications/${row?.id}/read`];
  },
  '/api/auth/confirm': async () => ['/api/auth/confirm', { password: PASSWORD }],
  '/api/user/factors/totp': async () => ['/api/user/factors/totp', { name: 'Phone' }],
  '/api/user/factors/:id/confirm': async (alice) => {
    const { factor, secret } = (await post(app, '/api/user/factors/totp', alice.headers, {})).json();
    return [`/api/user/factors/${factor.id}/confirm`, { code: readCode(secret, ctx.now()) }];
  },
  '/api/user/factors/passkey/options': async () => ['/api/user/factors/passkey/options'],
  '/api/user/factors/passkey': async (alice) => {
    const { options } = (await post(app, '/api/user/factors/passkey/options', alice.headers)).json();
    const response = createAuthenticator(ctx.config.baseUrl).register(options);
    return ['/api/user/factors/passkey', { name: 'Laptop', response }];
  },
  '/api/user/recovery-codes': async (alice) => {
    await addTotp(app, alice, ctx.now());
    return ['/api/user/recovery-codes'];
  },
  '/api/user/password': async () => [
    '/api/user/password',
    { currentPassword: PASSWORD, newPassword: 'Another-password-2026' },
  ],
  '/api/integrations/notes/validate': async () => ['/api/integrations/notes/validate', { apiKey: 'ntn_key' }],
  '/api/integrations/design/validate': async () => ['/api/integrations/design/validate', { token: 'figd_token' }],
  '/api/admin/providers': async () => ['/api/admin/providers', PROVIDER, ada],
  '/api/admin/providers/test': async () => ['/api/admin/providers/test', { ...PROVIDER, model: 'small' }, ada],
  '/api/admin/coupons': async () => ['/api/admin/coupons', {}, ada],
  '/api/secrets': async () => [
    '/api/secrets',
    { name: 'tracker', host: 'api.example.com', header: 'Authorization', value: 'Bearer of-alice' },
  ],
  '/api/keys': async () => ['/api/keys', { name: 'A program', scopes: ['tasks:read'] }],
  '/api/coupons/activate': async () => {
    const created = await app.inject({ method: 'POST', url: '/api/admin/coupons', headers: ada.headers, payload: {} });
    return ['/api/coupons/activate', { code: created.json().data.code }];
  },
};

const POSTS = listRoutes(app).filter(
  ({ method, config }) => method === 'POST' && (config?.access === 'user' || config?.access === 'admin'),
);
const taking = POSTS.filter(({ config }) => config?.idempotency).map(({ url }) => url);
/** What only reads: the key is checked, and nothing kept. */
const reading = POSTS.filter(({ config }) => config?.idempotency === 'reads').map(({ url }) => url);

t.test('Every POST of a user takes a key, uploads excepted', async (t) => {
  t.same(
    POSTS.filter(({ config }) => !config?.idempotency).map(({ url }) => url),
    ['/api/upload'],
  );
  t.same(taking.toSorted(), [...Object.keys(REQUESTS), '/api/auth/logout'].toSorted(), 'each is tried below');
  const external = POSTS.filter(({ config }) => typeof config?.idempotency === 'object').map(({ url }) => url);
  t.same(external.toSorted(), [
    '/api/admin/providers/test',
    '/api/agent/process',
    '/api/auth/confirm',
    '/api/executions/:id/ask',
    '/api/user/import',
    '/api/user/password',
  ]);
  t.same(reading.toSorted(), [
    '/api/channels/:id/test',
    '/api/integrations/design/validate',
    '/api/integrations/notes/validate',
    '/api/tasks/preview',
    '/api/tasks/preview-prompt',
    '/api/tasks/preview-sources',
    '/api/user/factors/passkey/options',
    '/api/webhooks/:id/test',
  ]);
});

for (const [route, prepare] of Object.entries(REQUESTS)) {
  if (!reading.includes(route)) continue;
  t.test(`POST ${route} takes a key and keeps nothing`, async (t) => {
    const alice = await signUp(app);
    const [url, payload] = await prepare(alice);
    for (let time = 0; time < 2; time++) {
      const answer = await postWithKey(app, alice, url, 'a-key', payload);
      t.equal(answer.statusCode, 200, answer.body);
      t.notOk('idempotent-replayed' in answer.headers);
    }
    t.same(await readKeys(ctx, alice), []);
    t.equal((await postWithKey(app, alice, url, 'two words', payload)).statusCode, 400);
  });
}

for (const [route, prepare] of Object.entries(REQUESTS)) {
  if (reading.includes(route)) continue;
  t.test(`POST ${route} is answered once: the repetition gets the same bytes`, async (t) => {
    const alice = await signUp(app);
    const [url, payload, person = alice] = await prepare(alice);
    const first = await postWithKey(app, person, url, 'a-key', payload);
    t.ok([200, 201].includes(first.statusCode), first.body);
    const calls = notion.requests.length + figma.requests.length + receiver.received.length;
    const again = await postWithKey(app, person, url, 'a-key', payload);
    t.equal(again.headers['idempotent-replayed'], 'true', again.body);
    t.equal(again.body, first.body);
    t.equal(again.statusCode, first.statusCode);
    t.equal(again.headers.location, first.headers.location);
    t.equal(again.headers['content-type'], first.headers['content-type']);
    t.equal(
      notion.requests.length + figma.requests.length + receiver.received.length,
      calls,
      'no other service is called again',
    );
    t.match(await readKeys(ctx, person), [{ status: first.statusCode }]);
    const without = await app.inject({ method: 'POST', url, headers: person.headers, ...(payload && { payload }) });
    t.notOk('idempotent-replayed' in without.headers, 'a request without the key runs');
  });
}

t.test('A sign-out is answered once; its repetition has no session', async (t) => {
  const alice = await signUp(app);
  const first = await postWithKey(app, alice, '/api/auth/logout', 'out');
  t.equal(first.statusCode, 200, first.body);
  t.match(first.headers['set-cookie'], /Max-Age=0/);
  t.equal((await postWithKey(app, alice, '/api/auth/logout', 'out')).statusCode, 401);
});

t.test('Public routes and uploads ignore the header', async (t) => {
  const payload = { email: ada.email, password: PASSWORD };
  const headers = { 'idempotency-key': '' };
  const login = () => app.inject({ method: 'POST', url: '/api/auth/login', headers, payload });
  t.not((await login()).headers['set-cookie'], (await login()).headers['set-cookie']);
  const upload = await postWithKey(app, ada, '/api/upload', 'two words');
  t.same(Object.keys(upload.json().details), ['file'], 'the file is missing, and the key is not read');
});

t.test('A key costs three statements more, and a replay one; without a key nothing is added', async (t) => {
  const alice = await signUp(app);
  const count = async (work: () => Promise<unknown>) => {
    const stops = [countStatements(ctx.db), countStatementsInTransactions(ctx.db)];
    await work();
    const [outside, inside] = stops.map((stop) => stop());
    return { outside, inside: Number(inside) };
  };
  const plain = await count(() => postTask(app, alice));
  const url = '/api/agent/create-task';
  const keyed = await count(() => postWithKey(app, alice, url, 'counted', TASK));
  const replayed = await count(() => postWithKey(app, alice, url, 'counted', TASK));
  t.equal(plain.outside, 2, 'one finds the caller, one counts the request');
  t.same(keyed, { outside: 3, inside: plain.inside + 2 });
  t.same(replayed, { outside: 3, inside: 0 });
});

t.test('The document has the header, both errors and the mark of a replay for exactly these operations', async (t) => {
  interface Documented {
    parameters?: { name: string; in: string; required?: boolean; schema: object }[];
    responses: Record<string, { headers?: object; description: string }>;
  }
  const document: { paths: Record<string, Record<string, Documented>> } = await readServedDocument(app);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      ...operation,
    })),
  );
  const toRoutes = (urls: readonly string[]) => urls.map((url) => `post ${url}`).toSorted();
  const expected = toRoutes(taking.filter((url) => !reading.includes(url)));
  const select = (has: (operation: Documented) => unknown) =>
    operations
      .filter((operation) => has(operation))
      .map(({ route }) => route)
      .toSorted();
  const findHeader = ({ parameters = [] }: Documented) =>
    parameters.find((parameter) => parameter.in === 'header' && parameter.name === 'Idempotency-Key');
  t.same(select(findHeader), toRoutes(taking));
  t.match(findHeader(operations.find(findHeader) as Documented), {
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });
  t.same(
    select(({ responses }) => 422 in responses),
    expected,
  );
  t.same(
    select(({ responses }) => /`Idempotency-Key`/.test(responses[409]?.description ?? '')),
    expected,
  );
  t.same(
    select(({ responses }) => 'Retry-After' in (responses[409]?.headers ?? {})),
    expected,
  );
  const marks = ({ responses }: Documented) =>
    Object.keys(responses).filter((status) => 'Idempotent-Replayed' in (responses[status]?.headers ?? {}));
  t.same(
    select((operation) => marks(operation).length > 0),
    expected,
  );
  t.ok(operations.every((operation) => marks(operation).every((status) => Number(status) < 300)));
});
