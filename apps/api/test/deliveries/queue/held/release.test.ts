import { randomUUID } from 'node:crypto';
import { deliveries, endpoints, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { ownChannel } from '../../../../src/product/deliveries/channels/read.ts';
import { reconsiderHeld, releaseHeld } from '../../../../src/product/deliveries/queue/held/release.ts';
import { redeliver } from '../../../../src/product/deliveries/queue/redeliver.ts';
import { pruneAll } from '../../../../src/product/retention/prune.ts';
import { START } from '../../../support/context.ts';
import { insertTestChannel, installTestKind, toMessages } from '../../../support/test-channels.ts';
import { connectSecondProcess, readDeliveries, testWebhooks } from '../../../support/webhooks.ts';

installTestKind();
const HOUR = 3_600_000;
const test = await testWebhooks(t, { env: { WEBHOOK_RETRY_DELAYS_MS: '0', RETENTION_DELIVERIES_DAYS: '7' } });
const { ctx, clock, alice, receiver, deliver } = test;
const other = connectSecondProcess(t, test);

type Values = Parameters<typeof insertTestChannel>[3];
const QUIET = { quiet: { from: '09:00', to: '12:00', timezone: 'UTC' } };
const newChannel = (values: Values) => insertTestChannel(ctx, alice.id, receiver.url, values);
const toPayload = (n: number, result: string) => ({
  event: 'execution.completed',
  timestamp: ctx.now().toISOString(),
  data: { task: { id: 1, name: `Task ${n}` }, execution: { id: n, result, output: { big: 'x'.repeat(5000) } } },
});
const ALARM = {
  event: 'task.slow',
  timestamp: START.toISOString(),
  data: { task: { id: 1, name: 'News' }, execution: { id: 3 }, durationMs: 9000, durationAboveMs: 1000 },
};

/** As the outbox writes them. */
async function hold(webhookId: string, payloads: readonly { event: string }[]): Promise<void> {
  const at = { nextAttemptAt: ctx.now(), createdAt: ctx.now() };
  const rows = payloads.map((payload) => {
    const body = JSON.stringify(payload);
    return { id: randomUUID(), webhookId, event: payload.event, payload: body, requestId: 'test', ...at };
  });
  await ctx.db.insert(deliveries).values(rows.map((row) => ({ ...row, status: 'held' as const })));
}
const holdAnswers = (id: string, ...answers: string[]) =>
  hold(
    id,
    answers.map((answer, n) => toPayload(n + 1, answer)),
  );
const statuses = async (id: string) => (await readDeliveries(ctx, id)).map(({ status }) => status).sort();
const change = (id: string, values: Partial<typeof endpoints.$inferInsert>) =>
  ctx.db.update(endpoints).set(values).where(eq(endpoints.id, id));
const lastSentAt = async (id: string) =>
  (await ctx.db.select({ at: endpoints.lastSentAt }).from(endpoints).where(eq(endpoints.id, id)))[0]?.at;

t.test('A message in quiet hours is sent as it is when they end', async (t) => {
  const id = await newChannel(QUIET);
  await holdAnswers(id, 'Sunny.');
  await deliver();
  t.match(await readDeliveries(ctx, id), [{ status: 'held', nextAttemptAt: new Date('2026-11-20T12:00:00Z') }]);
  clock.set('2026-11-20T11:59:59.999Z');
  await deliver();
  t.equal(receiver.received.length, 0);
  clock.set('2026-11-20T12:00:00Z');
  await deliver();
  t.match(toMessages(receiver.received), [{ title: 'Task 1', markdown: 'Sunny.', items: [] }]);
  t.same(await statuses(id), ['delivered']);
  t.same(await lastSentAt(id), ctx.now());
});

t.test('Several messages become one, which has the beginnings of long answers', async (t) => {
  const id = await newChannel(QUIET);
  await holdAnswers(id, 'Sunny.', `${'a'.repeat(3998)}😀${'b'.repeat(9000)}`, 'Rain.');
  clock.advance(2 * HOUR);
  await deliver();
  const [{ title, items } = { title: '', items: [] }, ...rest] = toMessages(receiver.received);
  t.equal(rest.length, 0);
  t.equal(title, '3 messages');
  t.same(items.map(({ markdown }) => markdown).sort(), ['Rain.', 'Sunny.', `${'a'.repeat(3998)}…`]);
  const rows = await readDeliveries(ctx, id);
  const digest = rows.find(({ event }) => event === 'digest');
  t.match(digest, { status: 'delivered', digestId: null });
  t.notMatch(digest?.payload, /xxxx/);
  const grouped = rows.filter(({ event }) => event !== 'digest');
  t.match(
    grouped,
    Array(3).fill({ status: 'digested', digestId: digest?.id, endedAt: ctx.now(), nextAttemptAt: null }),
  );
  const rain = grouped.find(({ payload }) => payload.includes('Rain.'))?.id ?? '';
  await redeliver(ctx, ownChannel(alice, id), rain);
  await deliver();
  t.match(toMessages(receiver.received)[1], { markdown: 'Rain.', items: [] }, 'it can be sent again alone');
  t.same(await statuses(id), ['delivered', 'delivered', 'digested', 'digested']);
});

t.test('A digest lists 100 messages, alarms among them, and counts all', async (t) => {
  const id = await newChannel({ digest: 'hourly' });
  await hold(id, [ALARM]);
  clock.advance(1000);
  await holdAnswers(id, ...Array(149).fill('Sunny.'));
  clock.advance(HOUR);
  await deliver();
  const [digest] = toMessages(receiver.received);
  t.equal(receiver.received.length, 1);
  t.match(digest, { title: '150 messages', text: 'The 100 most important ones are listed.' });
  t.equal(digest?.items.length, 100);
  t.equal(digest?.items[0]?.level, 'alert', 'oldest first');
  t.equal((await statuses(id)).filter((status) => status === 'digested').length, 150);
});

t.test('Between two messages there is the interval, also after an alarm that passes', async (t) => {
  const id = await newChannel({ minIntervalMinutes: 30 });
  await holdAnswers(id, 'One.');
  await deliver();
  t.equal(receiver.received.length, 1, 'the first is sent at once');
  await holdAnswers(id, 'Two.');
  clock.advance(29 * 60_000);
  await holdAnswers(id, 'Three.');
  await deliver();
  t.equal(receiver.received.length, 1);
  clock.advance(60_000);
  await deliver();
  t.match(toMessages(receiver.received)[1], { title: '2 messages' });
  clock.advance(20 * 60_000);
  const alarm = { id: randomUUID(), webhookId: id, event: ALARM.event, payload: JSON.stringify(ALARM), requestId: 'a' };
  const at = { nextAttemptAt: ctx.now(), queuedAt: ctx.now(), createdAt: ctx.now() };
  await ctx.db.insert(deliveries).values({ ...alarm, ...at });
  await holdAnswers(id, 'Four.');
  await deliver();
  t.same(await lastSentAt(id), ctx.now());
  clock.advance(15 * 60_000);
  await deliver();
  t.equal(receiver.received.length, 3);
  clock.advance(15 * 60_000);
  await deliver();
  t.match(toMessages(receiver.received)[3], { markdown: 'Four.' });
});

t.test('What is held follows settings that change', async (t) => {
  const id = await newChannel({ ...QUIET, digest: 'daily' });
  await holdAnswers(id, 'One.');
  await deliver();
  await change(id, { digest: 'off' });
  await reconsiderHeld(ctx, id);
  await deliver();
  t.match(await readDeliveries(ctx, id), [{ status: 'held', nextAttemptAt: new Date('2026-11-20T12:00:00Z') }]);
  await hold(id, [ALARM]);
  await change(id, { urgent: true });
  await reconsiderHeld(ctx, id);
  await deliver();
  t.match(toMessages(receiver.received), [{ level: 'alert' }], 'alarms do not wait any more');
  await change(id, { quiet: null });
  await reconsiderHeld(ctx, id);
  await deliver();
  t.match(toMessages(receiver.received), [{ level: 'alert' }, { markdown: 'One.' }]);
});

t.test(
  'A channel that is off keeps what it holds, one that failed ends it, and one that is deleted loses it',
  async (t) => {
    const id = await newChannel(QUIET);
    await holdAnswers(id, 'One.');
    await change(id, { status: 'inactive' });
    clock.advance(2 * HOUR);
    await deliver();
    t.match(await readDeliveries(ctx, id), [{ status: 'held', nextAttemptAt: new Date(ctx.now().getTime() + HOUR) }]);
    await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id));
    await change(id, { status: 'active' });
    await reconsiderHeld(ctx, id);
    await deliver();
    t.same(await statuses(id), ['held'], 'its account is off');
    await ctx.db.update(users).set({ isActive: true }).where(eq(users.id, alice.id));
    await change(id, { status: 'failed' });
    await reconsiderHeld(ctx, id);
    await deliver();
    t.match(await readDeliveries(ctx, id), [{ status: 'failed', attempt: 0, nextAttemptAt: null }]);
    t.equal(receiver.received.length, 0);

    const deleted = await newChannel({});
    await holdAnswers(deleted, 'One.', 'Two.');
    await deliver();
    await ctx.db.delete(endpoints).where(eq(endpoints.id, deleted));
    t.same(await readDeliveries(ctx, deleted), []);
  },
);

t.test('Processes that release at the same time send each message once', async (t) => {
  const ids = await Promise.all(
    Array.from({ length: 8 }, (_, n) => newChannel(n % 2 ? { minIntervalMinutes: 5 } : QUIET)),
  );
  for (const id of ids) await holdAnswers(id, 'One.', 'Two.', 'Three.');
  clock.advance(3 * HOUR);
  await Promise.all([releaseHeld(ctx), releaseHeld(other), releaseHeld(ctx), releaseHeld(other)]);
  await releaseHeld(ctx);
  for (const id of ids) {
    t.same(await statuses(id), ['digested', 'digested', 'digested', 'pending']);
  }
  await deliver();
  t.equal(receiver.received.length, ids.length);
});

t.test('Retention ends what a channel that is off holds, and deletes a digest with its messages', async (t) => {
  const off = await newChannel({ status: 'inactive' });
  const on = await newChannel({ minIntervalMinutes: 1440, lastSentAt: START });
  await holdAnswers(off, 'One.');
  await holdAnswers(on, 'One.', 'Two.');
  clock.advance(8 * 24 * HOUR);
  await pruneAll(ctx);
  t.same(await statuses(off), ['failed']);
  t.same(await statuses(on), ['held', 'held'], 'an active channel still sends');
  await deliver();
  t.same(await statuses(on), ['delivered', 'digested', 'digested']);
  await ctx.db.delete(deliveries).where(eq(deliveries.event, 'digest'));
  t.same(await statuses(on), []);
});
