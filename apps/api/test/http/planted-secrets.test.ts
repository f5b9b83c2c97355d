import { createHmac, randomBytes } from 'node:crypto';
import { auditLog, deliveryAttempts, executions, mails, notifications, users } from '@carillon/db';
import { getTableColumns } from 'drizzle-orm';
import type { InjectOptions, RouteOptions } from 'fastify';
import t, { type Test } from 'tap';
import { createWorker } from '../../src/entry/worker.ts';
import { openSession } from '../../src/product/auth/sessions.ts';
import { testContext } from '../support/context.ts';
import { listRoutes } from '../support/contract/conformance.ts';
import { type Person, signUpAda, signUpAlice, signUpBob } from '../support/people.ts';
import { PRODUCTION_ENV } from '../support/production.ts';
import { buildRequestsWithSecrets } from '../support/secrets/planted-requests.ts';
import { createPlantedSecrets } from '../support/secrets/planted-secrets.ts';
import { startAiServer } from '../support/servers/ai-server.ts';
import { startOtlpServer } from '../support/servers/otlp-server.ts';

const plants = createPlantedSecrets();
const { plant, add } = plants;
const ai = await startAiServer();
t.teardown(() => ai.close());
const collector = await startOtlpServer(t);
const adminKey = plant('ADMIN_KEY');
const cronSecret = plant('CRON_SECRET');
const env = {
  ...PRODUCTION_ENV,
  JWT_SECRET: plant('JWT_SECRET'),
  ADMIN_KEY: adminKey,
  CRON_SECRET: cronSecret,
  ENCRYPTION_KEY: add('ENCRYPTION_KEY', randomBytes(32).toString('base64')),
  AI_BASE_URL: ai.url,
  AI_API_KEY: plant('AI_API_KEY'),
  SMTP_URL: `smtp://carillon:${plant('the password of SMTP_URL')}@127.0.0.1:9`,
  S3_SECRET_ACCESS_KEY: plant('S3_SECRET_ACCESS_KEY'),
  OAUTH_GITHUB_CLIENT_ID: 'carillon',
  OAUTH_GITHUB_CLIENT_SECRET: plant('OAUTH_GITHUB_CLIENT_SECRET'),
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_HEADERS: `authorization=${plant('OTEL_EXPORTER_OTLP_HEADERS')}`,
  LOG_LEVEL: 'trace',
};
const { app, ctx, logged } = await testContext(t, {
  env,
  routes: (app, ctx) => {
    // One bug is refused by the database with the data in its message, the other cannot be parsed by it.
    const config = { access: 'public' } as const;
    app.post('/bugs/constraint', { config }, async ({ body }) => {
      const row = { email: 'carol@example.com', name: 'Carol', ...(body as { identityUserId: string }) };
      await ctx.db.insert(users).values(row);
      await ctx.db.insert(users).values(row);
    });
    app.post('/bugs/type', { config }, async ({ body }) => {
      await ctx.db.execute(`select '${(body as { password: string }).password}'::int`);
    });
  },
});
// The owner of the ids in the paths: an accepted request of an admin may delete them.
await signUpBob(app);
const alice = await signUpAlice(app);
const ada = await signUpAda(app);
async function signIn({ id }: Person): Promise<Record<string, string>> {
  const { token } = await openSession(ctx, id);
  return bearer(add('the token of a session', token));
}
/** Signs in again if the session has ended, since some routes end it. */
async function keepSession(person: Person, headers?: Record<string, string>): Promise<Record<string, string>> {
  const ended = !headers || (await app.inject({ url: '/api/user', headers })).statusCode === 401;
  return ended ? signIn(person) : headers;
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Sends the request, and fails if a planted secret is in the answer. */
async function send(t: Test, request: InjectOptions) {
  const response = await app.inject(request);
  // The documentation and the sign-in page redirect and keep the query.
  const { location, ...headers } = response.headers;
  // A task form whose session has ended comes back to its sender, with what was typed.
  const isKeptForm = request.method === 'POST' && /^\/tasks\/(new|\d+\/edit)$/.test(String(request.url));
  const exposed = `${JSON.stringify(/^\/(api\/docs\/|sign-in\?next=)/.test(location ?? '') ? headers : response.headers)}\n${isKeptForm ? '' : response.body}`;
  const found = plants.findIn(exposed);
  if (found.length > 0) t.fail(`${request.method} ${request.url} answers with ${found.join(', ')}`);
  return response;
}

/** Fails if a planted secret is in the log or in stored failures. */
async function checkKept(t: Test) {
  const lines = logged.splice(0).filter((line) => plants.findIn(JSON.stringify(line)).length > 0);
  t.same(lines, [], 'nothing of it is in the log');
  // What was sent is stored for the owner.
  const { request: _, ...ended } = getTableColumns(executions);
  const stored = await Promise.all([
    ...[auditLog, deliveryAttempts, notifications].map((table) => ctx.db.select().from(table)),
    ctx.db.select(ended).from(executions),
  ]);
  for (const rows of stored) t.same(plants.findIn(JSON.stringify(rows)), [], 'nor in what is stored of failures');
}

t.test('No secret of a refused request is answered or logged', async (t) => {
  const routes = listRoutes(app).filter(({ url }) => !url.startsWith('/bugs'));
  let requests = 0;
  let [ofAlice, ofAda]: Record<string, string>[] = [];
  for (const route of [
    ...routes,
    { method: 'GET', url: '/unknown/:secret' },
    { method: 'POST', url: '/api/unknown' },
  ]) {
    ofAlice = await keepSession(alice, ofAlice);
    ofAda = await keepSession(ada, ofAda);
    const [asUser, asAdmin] = [ofAlice, { ...ofAda, 'x-admin-key': adminKey }];
    for (const request of buildRequestsWithSecrets(route as RouteOptions, { plant, asUser, asAdmin })) {
      await send(t, request);
      requests += 1;
    }
  }
  t.ok(requests > 500, `${requests} requests to ${routes.length} routes`);
  t.ok(plants.count > 500, `${plants.count} secrets`);
  await checkKept(t);
});

t.test('No secret of an accepted request is answered or logged, except what the caller asked for', async (t) => {
  const post = (url: string, payload: object) => send(t, { method: 'POST', url, payload });
  const account = { email: 'dora@example.com', password: plant('a password') };
  t.equal((await post('/api/auth/register', { ...account, name: 'Dora' })).statusCode, 201);
  t.equal((await post('/api/auth/login', { ...account, password: plant('a wrong password') })).statusCode, 401);
  const login = await app.inject({
    method: 'POST',
    url: '/api/auth/login',
    payload: account,
    headers: { 'x-request-token': 'true' },
  });
  const asDora = bearer(add('the token of a sign-in', login.json().token));
  await send(t, { url: '/api/auth/session', headers: asDora });
  await post('/api/auth/forgot-password', { email: account.email });
  t.equal(
    (await post('/api/auth/reset-password', { token: plant('a reset token'), newPassword: plant('a new password') }))
      .statusCode,
    400,
  );
  await send(t, { url: `/api/auth/validate-reset-token?token=${plant('a reset token in a query')}` });
  const key = { encryptedProviderKey: plant('the AI key of a user') };
  t.equal((await send(t, { method: 'PATCH', url: '/api/user', headers: asDora, payload: key })).statusCode, 200);
  await send(t, { url: '/api/user', headers: asDora });
  const changes = [plant('a wrong current password'), account.password].map((currentPassword) => {
    return { currentPassword, newPassword: plant('a changed password') };
  });
  for (const payload of changes) {
    await send(t, { method: 'POST', url: '/api/user/password', headers: asDora, payload });
  }
  t.equal((await post('/api/auth/login', account)).statusCode, 401, 'the password is another one');
  t.equal((await send(t, { url: '/api/cron/scheduler', headers: bearer(cronSecret) })).statusCode, 200);
  const asAda = { ...(await signIn(ada)), 'x-admin-key': adminKey };
  for (const { url, method } of listRoutes(app)) {
    if (url.startsWith('/api/admin') && method === 'GET')
      await send(t, { url: url.replace(/:\w+/, String(alice.id)), headers: asAda });
  }

  const feed = await app.inject({ method: 'POST', url: '/api/user/feed', headers: asDora });
  const feedPath = new URL(feed.json().url).pathname;
  add('the address of a feed', feedPath.slice('/feeds/'.length, -'.atom'.length));
  t.equal((await send(t, { url: feedPath })).statusCode, 200);
  await send(t, { url: `${feedPath}/x` });

  const hook = {
    url: `https://hooks.example.com/?key=${plant('a key in the address of a webhook')}`,
    events: ['task.created'],
  };
  const made = (await app.inject({ method: 'POST', url: '/api/webhooks', headers: asDora, payload: hook })).json()
    .webhook;
  const { secret } = made;
  add('the secret of a webhook', secret);
  await send(t, { url: `/api/webhooks/${made.userId}/${secret}` });
  const body = JSON.stringify({ data: { password: plant('what an inbound call brings') } });
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  for (const sign of [signature, `sha256=${plant('a wrong signature')}`]) {
    const headers = { 'content-type': 'application/json', 'x-webhook-signature': sign };
    await send(t, { method: 'POST', url: `/api/webhooks/${made.userId}/${secret}`, headers, payload: body });
  }
  await checkKept(t);
});

t.test('No secret in a database error is answered or logged', async (t) => {
  for (const [url, payload] of [
    ['/bugs/constraint', { identityUserId: plant('a value that is there twice'), passwordHash: plant('a hash') }],
    ['/bugs/type', { password: plant('a value of the wrong type') }],
  ] as const) {
    const response = await send(t, { method: 'POST', url, payload });
    t.equal(response.statusCode, 500);
  }
  t.ok(logged.some(({ msg }) => msg === 'request failed'));
  await checkKept(t);
});

t.test('No secret in a provider error is answered or logged', async (t) => {
  const asAlice = await signIn(alice);
  const worker = createWorker(ctx, { graceMs: 0 });
  t.teardown(() => worker.stop());
  const key = plant("the user's own AI key");
  for (const encryptedProviderKey of [null, key]) {
    await send(t, { method: 'PATCH', url: '/api/user', headers: asAlice, payload: { encryptedProviderKey } });
    for (const status of [400, 401, 403, 500]) {
      ai.answer(({ headers }) => ({
        status,
        body: {
          error: { message: `Incorrect API key provided: ${headers.authorization}`, code: headers.authorization },
        },
      }));
      const prompt = `Name a moon. ${plant('a prompt')}`;
      const task = {
        name: 'Refused',
        prompt,
        scheduledFor: '2026-11-21T10:00:00.000Z',
        recurrence: 'once',
        timezone: 'UTC',
      };
      const { taskId } = (
        await send(t, { method: 'POST', url: '/api/agent/create-task', headers: asAlice, payload: task })
      ).json();
      const { executionId } = (
        await send(t, { method: 'POST', url: `/api/tasks/${taskId}/execute`, headers: asAlice })
      ).json();
      await worker.drain();
      const message = { message: `Name a moon. ${plant('a message')}` };
      const refused = await send(t, { method: 'POST', url: '/api/agent/process', headers: asAlice, payload: message });
      t.equal(refused.statusCode, 503);
      // The owner sees the prompt only.
      for (const path of ['', '/details']) {
        const shown = await app.inject({ url: `/api/executions/${executionId}${path}`, headers: asAlice });
        t.match(shown.json(), { execution: { status: 'failed', error: /\w/, request: { prompt } } });
        const { task: _, request: sent, ...rest } = shown.json().execution;
        t.same(plants.findIn(JSON.stringify({ ...rest, system: sent.system })), []);
      }
    }
  }
  t.ok(
    ai.requests.some(({ headers }) => headers.authorization === `Bearer ${key}`),
    'who asked with it',
  );
  for (const { error } of await ctx.db.select().from(mails)) t.same(plants.findIn(error ?? ''), []);
  await checkKept(t);
});

t.test('No secret reaches the traces', async (t) => {
  await ctx.trace.close();
  const { spans, requests } = collector;
  t.ok(spans.length > 500, `${spans.length} spans`);
  for (const name of ['GET /api/webhooks/:userId/:secret', 'GET /feeds/:secret.atom', 'run execution']) {
    t.ok(
      spans.some((span) => span.name === name),
      name,
    );
  }
  const exposesSecret = (span: object) => plants.findIn(JSON.stringify(span)).length > 0;
  t.same(spans.filter(exposesSecret), []);
  t.same(plants.findIn(Buffer.concat(requests.map(({ body }) => body)).toString('latin1')), [], 'as they came');
});
