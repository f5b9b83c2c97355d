import { auditLog, deliveries, endpoints, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { testChannel } from '../../../src/product/deliveries/channels/test-channel.ts';
import { changeChannel } from '../../../src/product/deliveries/channels/write.ts';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { decryptSecret } from '../../../src/product/deliveries/queue/secret.ts';
import { CHANNEL, callChannel, postChannel } from '../../support/channels.ts';
import { START, testContext } from '../../support/context.ts';
import { findCallerByToken, type Person, signUp } from '../../support/people.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { postTask, runDue } from '../../support/tasks.ts';
import { connectSecondProcess, readDeliveries } from '../../support/webhooks.ts';

const test = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1000' } });
const { app, ctx, clock } = test;
const second = connectSecondProcess(t, test);
const receiver = await startReceiver(t);
const TOKEN = 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2';
t.beforeEach(() => {
  clock.set(START);
  receiver.received.length = 0;
  receiver.answer(200);
});

const patch = (person: Person, id: string, payload: object) => callChannel(app, person, 'PATCH', id, '', payload);

async function readSettings(id: string) {
  const [row] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, id));
  return JSON.parse(decryptSecret(ctx, id, row?.secretEncrypted ?? ''));
}

t.test('A change keeps the settings and secrets that it leaves out', async (t) => {
  const alice = await signUp(app);
  const { id } = await postChannel(app, alice, { token: TOKEN, minIntervalMinutes: 5 });
  const quiet = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' };
  const answer = await patch(alice, id, { topic: 'alarms', quiet, urgent: true });
  t.equal(answer.statusCode, 200, answer.body);
  t.match(answer.json().channel, {
    settings: { url: CHANNEL.url, topic: 'alarms' },
    quiet,
    minIntervalMinutes: 5,
    urgent: true,
  });
  t.notMatch(answer.body, TOKEN);
  t.same(await readSettings(id), { url: CHANNEL.url, topic: 'alarms', token: TOKEN });
  t.match((await patch(alice, id, { quiet: null, minIntervalMinutes: null })).json().channel, {
    quiet: null,
    minIntervalMinutes: null,
    urgent: true,
  });
  await patch(alice, id, { token: null });
  t.same(await readSettings(id), { url: CHANNEL.url, topic: 'alarms' });
  const log = await ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'channel.changed'));
  t.match(log[0]?.details, { channelId: id, changed: ['topic', 'quiet', 'urgent'] });
  t.notMatch(JSON.stringify(log), TOKEN);
});

t.test('A change of the server needs the stored secrets again', async (t) => {
  const alice = await signUp(app);
  const { id } = await postChannel(app, alice, { token: TOKEN });
  const url = 'https://ntfy.example.org';
  const refused = await patch(alice, id, { url });
  t.equal(refused.statusCode, 400);
  t.match(refused.json().details, { token: [/needed again/] });
  t.equal((await patch(alice, id, { url, token: 'another' })).statusCode, 200);
  t.equal((await patch(alice, id, { url: CHANNEL.url, token: null })).statusCode, 200);
  t.same(await readSettings(id), { url: CHANNEL.url, topic: CHANNEL.topic });
});

t.test('A setting given instead of another one replaces it', async (t) => {
  const alice = await signUp(app);
  const apprise = { kind: 'apprise', url: 'https://apprise.example.com', topic: undefined };
  const { id } = await postChannel(app, alice, { ...apprise, key: 'desk' });
  const answer = await patch(alice, id, { urls: ['json://localhost'] });
  t.equal(answer.statusCode, 200, answer.body);
  t.same(await readSettings(id), { url: apprise.url, urls: ['json://localhost'] });
});

t.test('A change that is refused changes nothing', async (t) => {
  const alice = await signUp(app);
  const { id } = await postChannel(app, alice);
  const before = (await callChannel(app, alice, 'GET', id)).json();
  for (const [given, field] of [
    [{ chatId: '1' }, 'chatId'],
    [{ name: 'New', url: 'http://169.254.169.254' }, 'url'],
    [{ digest: 'hourly' }, 'digest'],
    [{ kind: 'slack' }, 'kind'],
  ] as const) {
    const answer = await patch(alice, id, given);
    t.equal(answer.statusCode, 400, answer.body);
    t.ok(answer.body.includes(field), answer.body);
  }
  t.same((await callChannel(app, alice, 'GET', id)).json(), before);
});

t.test('Of 50 changes from one revision by two processes, one succeeds, also if only a secret changes', async (t) => {
  const alice = await signUp(app);
  const caller = (await findCallerByToken(ctx, alice.token))!;
  const { id } = await postChannel(app, alice);
  for (const [revision, build] of [
    [1, (n: number) => ({ name: `Desk ${n}` })],
    [2, (n: number) => ({ token: `tk_${n}` })],
  ] as const) {
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => changeChannel(n % 2 ? ctx : second, caller, id, build(n), [revision])),
    );
    t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.kind] : []));
    t.same(new Set(errors), new Set(['precondition_failed']));
  }
  const [row] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, id));
  t.equal(row?.revision, 3);
});

t.test('A test is answered with its attempt, logged and not retried; a message can be sent again', async (t) => {
  const alice = await signUp(app);
  const { id } = await postChannel(app, alice, { url: receiver.url, token: TOKEN });
  receiver.answer(500);
  const refused = (await callChannel(app, alice, 'POST', id, '/test')).json();
  t.match(refused, { success: false, delivery: { channelId: id, event: 'test', statusCode: 500, attempt: 1 } });
  t.notOk('url' in refused.delivery);
  receiver.answer(200);
  t.match((await callChannel(app, alice, 'POST', id, '/test')).json(), { success: true });
  t.match(receiver.received[1]?.headers, { authorization: `Bearer ${TOKEN}` });

  await postTask(app, alice, { aiModel: 'offline', channels: [id] });
  clock.set('2026-11-20T11:00:00Z');
  await runDue(ctx);
  await createDeliverer(ctx).drain();
  const logs = (await callChannel(app, alice, 'GET', id, '/logs')).json();
  t.match(logs, { pagination: { total: 3, limit: 50, offset: 0 } });
  t.match(logs.logs[0], { channelId: id, event: 'execution.completed', success: true });
  t.notMatch(JSON.stringify(logs), TOKEN);

  const path = `/logs/${logs.logs[0].deliveryId}/redeliver`;
  t.equal((await callChannel(app, alice, 'POST', id, path)).statusCode, 201);
  await createDeliverer(ctx).drain();
  t.equal(receiver.received.length, 4);
  t.equal((await callChannel(app, alice, 'POST', id, `/logs/${id}/redeliver`)).statusCode, 404);

  await patch(alice, id, { isActive: false });
  t.match((await callChannel(app, alice, 'POST', id, path)).json(), { error: /Switch it on first/ });
});

t.test('A channel that failed sends nothing older once it is switched on again', async (t) => {
  const alice = await signUp(app);
  const { id } = await postChannel(app, alice, { url: receiver.url });
  const pending = { webhookId: id, event: 'execution.failed', payload: '{}', requestId: 'r', createdAt: ctx.now() };
  await ctx.db.insert(deliveries).values({ ...pending, id, nextAttemptAt: ctx.now(), queuedAt: ctx.now() });
  await ctx.db.update(endpoints).set({ status: 'failed' }).where(eq(endpoints.id, id));
  t.match((await patch(alice, id, { isActive: true })).json(), { channel: { status: 'active', isActive: true } });
  t.match(await readDeliveries(ctx, id), [{ status: 'failed' }]);
});

t.test('The tests of one user are limited', async (t) => {
  const alice = await signUp(app);
  const caller = (await findCallerByToken(ctx, alice.token))!;
  const { id } = await postChannel(app, alice, { url: receiver.url });
  const strict = { ...ctx, config: { ...ctx.config, rateLimitMultiplier: 1 } };
  for (let n = 0; n < 10; n++) t.match(await testChannel(strict, caller, id), { success: true });
  await t.rejects(testChannel(strict, caller, id), /Too many requests/);
});

t.test('A copy of a task has its channels', async (t) => {
  const alice = await signUp(app);
  const { id } = await postChannel(app, alice);
  const taskId = await postTask(app, alice, { channels: [id] });
  const url = `/api/tasks/${taskId}/duplicate`;
  const copy = await app.inject({ method: 'POST', url, headers: alice.headers });
  t.equal(copy.statusCode, 201, copy.body);
  t.match(await ctx.db.select().from(tasks).where(eq(tasks.userId, alice.id)), [
    { channels: [id] },
    { channels: [id] },
  ]);
});
