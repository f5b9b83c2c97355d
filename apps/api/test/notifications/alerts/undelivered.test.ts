import { mails, notifications, users } from '@carillon/db';
import { and, asc, eq } from 'drizzle-orm';
import t from 'tap';
import { createInstruments } from '../../../src/lib/telemetry/instruments.ts';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { alertOverdue } from '../../../src/product/notifications/alerts/overdue.ts';
import { listAlerts } from '../../../src/product/notifications/alerts/read.ts';
import { createAlertedTask, minutesAfter } from '../../support/alerts.ts';
import { testEngine } from '../../support/engine.ts';
import { confirmAddresses, deliverDueMails } from '../../support/mails.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { insertTestChannel, installTestKind } from '../../support/test-channels.ts';

const server = await startMailServer(t);
const receiver = await startReceiver(t);
const instruments = createInstruments();
const { ctx, clock, alice } = await testEngine(t, {
  SMTP_URL: server.url,
  WEBHOOK_RETRY_DELAYS_MS: '0,60000',
});
ctx.metrics = instruments;
const TEAM = 'team@example.com';
t.beforeEach(async () => {
  receiver.answer(200);
  server.answer('take');
  await ctx.db.update(users).set({ notifyEmail: false }).where(eq(users.id, alice().id));
  await ctx.db.delete(mails);
  await confirmAddresses(ctx, alice().id, [TEAM]);
  server.received.length = 0;
});

const reports = () =>
  ctx.db
    .select()
    .from(notifications)
    .where(and(eq(notifications.userId, alice().id), eq(notifications.kind, 'alert.undelivered')))
    .orderBy(asc(notifications.id));
const readFailures = async (by: string) =>
  Number((await instruments.registry.metrics()).match(new RegExp(`failed_total{by="${by}"} (\\d+)`))?.[1]);
async function becomeOverdue() {
  clock.set(minutesAfter(15));
  await alertOverdue(ctx);
}
const deliver = () => createDeliverer(ctx).drain();
const list = async () => (await listAlerts(ctx, alice(), { limit: 20 })).alerts;

t.test('An alert whose webhook fails for good is reported once, and shows it in the list', async (t) => {
  await createAlertedTask(ctx, alice(), { webhookUrl: receiver.url });
  receiver.answer(500);
  const before = await readFailures('webhook');
  await becomeOverdue();
  await deliver();
  t.same(await reports(), [], 'a retry follows');
  t.match(await list(), [{ undelivered: false, deliveries: [{ status: 'pending', attempts: 1 }] }]);
  clock.advance(60_000);
  await deliver();
  t.match(await reports(), [
    {
      title: 'An alert could not be delivered',
      message: /^"Task "Morning news" is overdue" was not delivered by webhook\. Last error: .*500/,
    },
  ]);
  t.match(await list(), [
    { undelivered: true, deliveries: [{ kind: 'webhook', status: 'failed', attempts: 2, lastError: /500/ }] },
  ]);
  t.equal(await readFailures('webhook'), before + 1);
});

t.test('An alert that fails by webhook and by mail is reported once', async (t) => {
  await createAlertedTask(ctx, alice(), { webhookUrl: receiver.url, notificationEmail: TEAM });
  receiver.answer(500);
  server.answer({ at: 'RCPT', code: 550, text: 'No such mailbox' });
  await becomeOverdue();
  await deliver();
  clock.advance(60_000);
  await Promise.all([deliver(), deliverDueMails(ctx)]);
  t.equal((await reports()).length, 1);
  t.match(await list(), [{ undelivered: true, deliveries: [{ status: 'failed' }, { status: 'failed' }] }]);
});

t.test('A mail that is delivered is not reported', async (t) => {
  await createAlertedTask(ctx, alice(), { webhookUrl: null, notificationEmail: TEAM });
  await becomeOverdue();
  await deliverDueMails(ctx);
  t.same(await reports(), []);
  t.match(await list(), [
    { undelivered: false, deliveries: [{ kind: 'mail', to: TEAM, status: 'delivered', attempts: 1, lastError: null }] },
  ]);
});

t.test('An alert that a channel does not deliver is reported with the name of the channel', async (t) => {
  installTestKind();
  const channel = await insertTestChannel(ctx, alice().id, receiver.url, { name: 'Phone' });
  await createAlertedTask(ctx, alice(), { webhookUrl: null, channels: [channel] });
  receiver.answer(410);
  await becomeOverdue();
  await deliver();
  t.match(await reports(), [{ message: /was not delivered by the channel "Phone"\. Last error: .*410/ }]);
  t.match(await list(), [
    { undelivered: true, deliveries: [{ kind: 'channel', to: 'Phone', status: 'failed', attempts: 1 }] },
  ]);
});
