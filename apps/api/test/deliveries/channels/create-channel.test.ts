import { auditLog, endpoints, idempotencyKeys } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { createChannel } from '../../../src/product/deliveries/channels/write.ts';
import { decryptSecret } from '../../../src/product/deliveries/queue/secret.ts';
import { CHANNEL, callChannel, postChannel, tryChannel } from '../../support/channels.ts';
import { START, testContext } from '../../support/context.ts';
import { postWithKey } from '../../support/idempotency.ts';
import { findCallerByToken, signUp } from '../../support/people.ts';
import { connectSecondProcess } from '../../support/webhooks.ts';

const test = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1000' } });
const { app, ctx, clock } = test;
const second = connectSecondProcess(t, test);
const TOKEN = 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2';
t.beforeEach(() => clock.set(START));

t.test('A channel is created and read without its secrets', async (t) => {
  const alice = await signUp(app);
  const answer = await tryChannel(app, alice, { token: TOKEN });
  t.equal(answer.statusCode, 201, answer.body);
  const { channel } = answer.json();
  t.equal(answer.headers.location, `/api/channels/${channel.id}`);
  t.strictSame(channel, {
    id: channel.id,
    kind: 'ntfy',
    name: 'Phone',
    settings: { url: CHANNEL.url, topic: CHANNEL.topic },
    isForAccount: false,
    isActive: true,
    status: 'active',
    isConfirmed: true,
    quiet: null,
    minIntervalMinutes: null,
    digest: 'off',
    digestHour: null,
    digestTimezone: null,
    urgent: false,
    createdAt: START.toISOString(),
  });
  t.strictSame((await callChannel(app, alice, 'GET', channel.id)).json(), { success: true, channel });
  t.strictSame((await app.inject({ url: '/api/channels', headers: alice.headers })).json(), {
    success: true,
    channels: [channel],
    pagination: { total: 1, limit: 20, offset: 0, hasMore: false },
  });
  const [row] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, channel.id));
  t.notMatch(JSON.stringify(row), TOKEN);
  t.same(JSON.parse(decryptSecret(ctx, channel.id, row?.secretEncrypted ?? '')), {
    url: CHANNEL.url,
    topic: CHANNEL.topic,
    token: TOKEN,
  });
  t.ok(['execution.completed', 'execution.failed', 'task.overdue'].every((event) => row?.events.includes(event)));
  t.match(await ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'channel.created')), [
    { userId: alice.id, details: { channelId: channel.id, kind: 'ntfy', name: 'Phone' } },
  ]);
});

t.test('Of a channel the webhook routes show nothing, and a stranger finds none', async (t) => {
  const alice = await signUp(app);
  const bob = await signUp(app);
  const { id } = await postChannel(app, alice);
  t.equal((await app.inject({ url: `/api/webhooks/${id}`, headers: alice.headers })).statusCode, 404);
  t.match((await app.inject({ url: '/api/webhooks', headers: alice.headers })).json(), { webhooks: [] });
  t.match((await app.inject({ url: '/api/channels', headers: bob.headers })).json(), { channels: [] });
  for (const [method, path, payload] of [
    ['GET', ''],
    ['PATCH', '', { name: 'Mine' }],
    ['DELETE', ''],
    ['POST', '/test'],
    ['GET', '/logs'],
    ['POST', `/logs/${id}/redeliver`],
  ] as const) {
    const answer = await callChannel(app, bob, method, id, path, payload);
    t.equal(answer.statusCode, 404, `${method} ${path}`);
  }
  t.equal((await callChannel(app, alice, 'GET', id)).statusCode, 200);
});

t.test('A setting that is missing, wrong or of another kind is 400 and names its field', async (t) => {
  const alice = await signUp(app);
  for (const [given, field, message] of [
    [{ topic: undefined }, 'topic', /required/],
    [{ url: undefined }, 'url', /required/],
    [{ url: 'http://169.254.0.1' }, 'url', /./],
    [{ chatId: '7' }, 'chatId', /is not a setting of ntfy/],
    [{ address: 'a@example.com' }, 'address', /is not a setting of ntfy/],
    [{ digest: 'daily' }, 'digest', /is not a setting of ntfy/],
    [{ digestHour: 7 }, 'digestHour', /is not a setting of ntfy/],
    [{ quiet: { from: '22:00', to: '22:00', timezone: 'UTC' } }, 'quiet.to', /must differ/],
    [{ quiet: { from: '24:00', to: '07:00', timezone: 'UTC' } }, 'quiet.from', /./],
    [{ quiet: { from: '22:00', to: '07:00', timezone: 'Mars/Base' } }, 'quiet.timezone', /./],
    [{ minIntervalMinutes: 0 }, 'minIntervalMinutes', /./],
    [{ name: ' ' }, 'name', /./],
    [{ kind: 'fax' }, 'kind', /./],
  ] as const) {
    const answer = await tryChannel(app, alice, given);
    t.equal(answer.statusCode, 400, answer.body);
    t.match(answer.json().details[field]?.[0], message, `${field}: ${answer.body}`);
  }
  t.equal(await ctx.db.$count(endpoints, eq(endpoints.userId, alice.id)), 0);
});

t.test('A user has at most 20 channels, also when two processes create them at once', async (t) => {
  const alice = await signUp(app);
  const caller = (await findCallerByToken(ctx, alice.token))!;
  const input = { ...CHANNEL, kind: 'ntfy' } as const;
  const results = await Promise.allSettled(
    Array.from({ length: 30 }, (_, n) => createChannel(n % 2 ? ctx : second, caller, input)),
  );
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 20);
  t.equal(await ctx.db.$count(endpoints, eq(endpoints.userId, alice.id)), 20);
  const refused = await tryChannel(app, alice);
  t.equal(refused.statusCode, 402);
  t.match(refused.json(), { details: { resource: 'channels', used: 20, limit: 20, resetAt: null } });
});

t.test('A repeated request with an Idempotency-Key creates one channel, and stores no secret', async (t) => {
  const alice = await signUp(app);
  const payload = { ...CHANNEL, token: TOKEN };
  const first = await postWithKey(app, alice, '/api/channels', 'once', payload);
  const again = await postWithKey(app, alice, '/api/channels', 'once', payload);
  t.equal(first.statusCode, 201, first.body);
  t.equal(again.body, first.body);
  t.equal(await ctx.db.$count(endpoints, eq(endpoints.userId, alice.id)), 1);
  t.notMatch(JSON.stringify(await ctx.db.select().from(idempotencyKeys)), TOKEN);
});
