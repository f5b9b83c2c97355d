import { randomUUID } from 'node:crypto';
import { endpoints, executions, tasks, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { generateSecret } from '../../src/product/deliveries/queue/secret.ts';
import { testContext } from '../support/context.ts';
import { signUpAlice, signUpBob } from '../support/people.ts';
import { postTask } from '../support/tasks.ts';
import { type CreatedWebhook, computeSignature, inboundPath, postWebhook, sendInbound } from '../support/webhooks.ts';

const { app, ctx, logged } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
let webhook: CreatedWebhook;
t.beforeEach(async () => {
  await ctx.db.delete(endpoints);
  await ctx.db.delete(tasks);
  await ctx.db.update(users).set({ isActive: true, plan: 'pro' });
  webhook = await postWebhook(app, alice);
});

const show = (path = inboundPath(webhook)) => app.inject(path);
const send = (payload: string | object, given: Parameters<typeof sendInbound>[3] = {}) =>
  sendInbound(app, webhook, payload, given);
const NOT_FOUND = { error: 'Webhook not found or inactive' };

t.test('GET confirms an inbound address and its owner', async (t) => {
  const answer = await show();
  t.equal(answer.statusCode, 200);
  const { message, ...rest } = answer.json();
  t.type(message, 'string');
  t.same(rest, {
    userId: String(alice.id),
    webhookId: webhook.id,
    acceptedEvents: webhook.events,
    isActive: true,
  });
  t.equal(answer.headers['cache-control'], 'no-store');
  t.equal(answer.headers['referrer-policy'], 'no-referrer');
});

t.test('Every wrong path gets the same 404, for GET and POST', async (t) => {
  const other = await postWebhook(app, bob);
  const unknown = [
    inboundPath({ userId: alice.id, secret: generateSecret() }),
    inboundPath({ userId: bob.id, secret: webhook.secret }),
    inboundPath({ userId: 99_999, secret: webhook.secret }),
    inboundPath({ userId: '99999999999999999999', secret: webhook.secret }),
    inboundPath({ userId: `0${alice.id}`, secret: webhook.secret }),
    inboundPath({ userId: 'abc', secret: webhook.secret }),
    inboundPath({ userId: alice.id, secret: other.secret }),
    inboundPath({ userId: alice.id, secret: webhook.secret.toLowerCase() }),
    inboundPath({ userId: alice.id, secret: webhook.secret.slice(0, -1) }),
    inboundPath({ userId: alice.id, secret: webhook.id }),
    inboundPath({ userId: alice.id, secret: 'x'.repeat(100) }),
  ];
  const seen = async (path: string) => {
    for (const answer of [await show(path), await send({}, { path }), await send('no JSON', { path })]) {
      t.equal(answer.statusCode, 404);
      t.same(answer.json(), NOT_FOUND);
    }
  };
  for (const path of unknown) await seen(path);
  for (const status of ['inactive', 'failed'] as const) {
    await ctx.db.update(endpoints).set({ status }).where(eq(endpoints.id, webhook.id));
    await seen(inboundPath(webhook));
  }
  await ctx.db.update(endpoints).set({ status: 'active' });
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id));
  await seen(inboundPath(webhook));
  await ctx.db.delete(endpoints).where(eq(endpoints.id, webhook.id));
  await seen(inboundPath(webhook));
});

t.test('A signed call without a taskId is received and executes nothing', async (t) => {
  const before = await ctx.db.$count(executions);
  for (const body of [{}, { event: 'ping' }, { event: 'ping', data: { nested: { deep: [1, null] } } }]) {
    const answer = await send(body);
    t.equal(answer.statusCode, 200);
    t.same(answer.json(), { success: true, received: true });
  }
  t.equal(await ctx.db.$count(executions), before);
});

t.test('The signature covers the raw bytes', async (t) => {
  t.equal((await send('{ "event" :\t"spaced",\n"data": {"ü": "🔔"} }')).statusCode, 200);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1']) {
    t.equal((await send({ event: 'x' }, { type })).statusCode, 200, type);
  }
});

t.test('A wrong signature is refused with 401 before the body is parsed', async (t) => {
  const taskId = await postTask(app, alice);
  const body = JSON.stringify({ taskId });
  const good = computeSignature(webhook.secret, body);
  const bad = ['', 'nonsense', good.slice(7), good.toUpperCase(), computeSignature(generateSecret(), body), `${good}0`];
  for (const signature of bad) {
    const answer = await send(body, { signature });
    t.equal(answer.statusCode, 401, signature);
    t.same(answer.json(), { error: 'Invalid signature' });
  }
  const unsigned = await app.inject({ method: 'POST', url: inboundPath(webhook), payload: { taskId } });
  t.same([unsigned.statusCode, unsigned.json()], [401, { error: 'Invalid signature' }]);
  t.equal((await send(`${body} `, { signature: good })).statusCode, 401, 'a byte more');
  t.equal((await send('no JSON', { signature: good })).statusCode, 401, 'no JSON at all');
  t.equal(await ctx.db.$count(executions, eq(executions.taskId, taskId)), 0);
});

t.test('A signed but invalid body is refused with 400', async (t) => {
  for (const body of ['', 'no JSON', '[1', '\u0000']) t.equal((await send(body)).statusCode, 400, body);
  const wrong: [object, string][] = [
    [{ taskId: 'x' }, 'taskId'],
    [{ taskId: 0 }, 'taskId'],
    [{ taskId: null }, 'taskId'],
    [{ event: 7 }, 'event'],
    [{ event: 'a\u0000' }, 'event'],
    [{ data: [] }, 'data'],
    [{ data: 'x' }, 'data'],
    [{ userId: 1 }, 'userId'],
  ];
  for (const [body, field] of wrong) {
    const answer = await send(body);
    t.equal(answer.statusCode, 400, field);
    t.match(answer.json(), { success: false, error: 'Validation error' });
    t.same(Object.keys(answer.json().details), [field]);
  }
  t.equal((await send('[]')).statusCode, 400);
});

t.test('100 calls a minute are accepted from an IP address, valid and invalid together', async (t) => {
  const hurried = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const owner = await signUpAlice(hurried.app);
  const own = await postWebhook(hurried.app, owner);
  const url = inboundPath(own);
  for (let n = 0; n < 50; n++) {
    t.equal((await hurried.app.inject(url)).statusCode, 200);
    t.equal((await hurried.app.inject({ method: 'POST', url, payload: '{}' })).statusCode, 401);
  }
  for (const method of ['GET', 'POST'] as const) {
    const answer = await hurried.app.inject({ method, url });
    t.equal(answer.statusCode, 429);
    t.same(Object.keys(answer.json()).sort(), ['error', 'message']);
    t.equal(answer.json().error, 'Rate limit exceeded');
    t.ok(answer.headers['retry-after']);
    t.equal(answer.headers['x-ratelimit-limit'], '100');
  }
  t.equal(
    (await hurried.app.inject({ url, remoteAddress: '198.51.100.7' })).statusCode,
    200,
    'others are not affected',
  );
});

t.test('An internal error is a bare 500 without the secret', async (t) => {
  const { select } = ctx.db;
  ctx.db.select = (() => {
    throw new Error(`select failed at ${inboundPath(webhook)}`);
  }) as never;
  const failed = await show().finally(() => {
    ctx.db.select = select;
  });
  t.equal(failed.statusCode, 500);
  t.same(Object.keys(failed.json()).sort(), ['error', 'message']);
  t.equal(failed.json().error, 'Internal server error');
  t.notMatch(failed.body, /whsec_/);
});

t.test('No secret reaches the log', async (t) => {
  const secret = generateSecret();
  logged.length = 0;
  for (const path of [inboundPath(webhook), inboundPath({ userId: alice.id, secret })]) {
    for (const url of [path, `${path}?x=1`, `${path}/`, `${path}/more`, path.replace('webhooks', 'webhook')]) {
      await app.inject(url);
      await app.inject({ method: 'POST', url, payload: '{' });
      await app.inject({ method: 'DELETE', url });
    }
  }
  t.ok(logged.length >= 30);
  const text = JSON.stringify(logged);
  t.notOk(text.includes(webhook.secret.slice(6)));
  t.notOk(text.includes(secret.slice(6)));
});

t.test('A path whose first part looks like a webhook id is an inbound path', async (t) => {
  t.equal((await show(`/api/webhooks/${randomUUID()}/${generateSecret()}`)).statusCode, 404);
});
