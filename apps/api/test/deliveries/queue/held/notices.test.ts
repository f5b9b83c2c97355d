import { endpoints, notifications } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { alertOverdue } from '../../../../src/product/notifications/alerts/overdue.ts';
import { notifyUsers } from '../../../../src/product/notifications/write.ts';
import { inTransaction } from '../../../../src/transaction.ts';
import { createAlertedTask, minutesAfter } from '../../../support/alerts.ts';
import { buildCaller } from '../../../support/engine.ts';
import { insertTestChannel, installTestKind, toMessages } from '../../../support/test-channels.ts';
import { readDeliveries, testWebhooks } from '../../../support/webhooks.ts';

installTestKind();
const test = await testWebhooks(t, { env: { WEBHOOK_RETRY_DELAYS_MS: '0' } });
const { ctx, clock, alice, bob, receiver, wakes, deliver } = test;
t.beforeEach(() => ctx.db.delete(notifications));

type Values = Parameters<typeof insertTestChannel>[3];
const forAccount = (values: Values = {}, path = '', userId = alice.id) =>
  insertTestChannel(ctx, userId, `${receiver.url}${path}`, { isForAccount: true, ...values });
const notify = (kind: string, title = 'News') =>
  inTransaction(ctx, (tx) =>
    notifyUsers(tx, [{ userId: alice.id, kind, title, message: 'It "stopped"\n\u0001.', path: '/tasks/7' }]),
  );
const paths = () => receiver.received.map(({ path }) => path).sort();
const readNotices = () => ctx.db.select().from(notifications).orderBy(notifications.id);
const statuses = async (id: string) => (await readDeliveries(ctx, id)).map(({ status }) => status);

t.test('A notification goes to the active channels of the account', async (t) => {
  const id = await forAccount();
  await forAccount({ isForAccount: false }, '/task');
  await forAccount({ status: 'inactive' }, '/off');
  await forAccount({}, '/stranger', bob.id);
  await notify('task.failed');
  t.equal(wakes.count, 1);
  const [row] = await readDeliveries(ctx, id);
  t.match(row, { event: 'notification', status: 'pending', queuedAt: ctx.now() });
  t.same(JSON.parse(row?.payload ?? ''), {
    event: 'notification',
    timestamp: ctx.now().toISOString(),
    webhookId: id,
    userId: alice.id,
    data: { kind: 'task.failed', title: 'News', message: 'It "stopped"\n\u0001.', path: '/tasks/7' },
  });
  await deliver();
  t.same(paths(), ['/']);
  t.match(toMessages(receiver.received), [{ level: 'notice', title: 'News', url: `${ctx.config.appUrl}/tasks/7` }]);
});

t.test('A channel holds notifications, and passes alarms if it is urgent', async (t) => {
  const quiet = { from: '09:00', to: '12:00', timezone: 'UTC' };
  const [calm, urgent] = [await forAccount({ quiet }), await forAccount({ quiet, urgent: true })];
  for (const kind of ['task.failed', 'usage.alert', 'scheduler.silent', 'task.slow']) await notify(kind);
  t.same(await statuses(calm), Array(4).fill('held'));
  t.same((await statuses(urgent)).sort(), ['held', 'pending', 'pending', 'pending']);
});

t.test('A channel that the task of an alert names gets the alert once', async (t) => {
  const own = await forAccount({}, '/own');
  const other = await forAccount({}, '/other');
  await createAlertedTask(ctx, buildCaller(alice.id), { webhookUrl: null, channels: [own] });
  clock.set(minutesAfter(15));
  await alertOverdue(ctx);
  await deliver();
  t.same(paths(), ['/other', '/own']);
  t.match(await readDeliveries(ctx, own), [{ event: 'task.overdue' }]);
  t.match(await readDeliveries(ctx, other), [{ event: 'notification', alertId: Number }]);
});

t.test('A channel that fails is named, and the others are notified', async (t) => {
  const failing = await forAccount({}, '/gone');
  const other = await forAccount({ name: 'Phone' }, '/other');
  receiver.answer(({ path }) => (path === '/gone' ? 404 : 200));
  await notify('task.failed', 'First');
  await deliver();
  await deliver();
  t.match(await readNotices(), [
    { title: 'First' },
    {
      kind: 'channel.failed',
      title: 'The Mattermost channel "Team" failed',
      message: /Last error: .*404/,
      path: `/channels/${failing}`,
    },
  ]);
  t.match(await readDeliveries(ctx, failing), [{ status: 'failed' }], 'it gets no message about itself');
  t.same(paths(), ['/gone', '/other', '/other']);
  t.same(await statuses(other), ['delivered', 'delivered']);
});

t.test('An alert whose channel fails, alone or in a digest, is reported as undelivered once', async (t) => {
  receiver.answer(500);
  const channels = [
    await forAccount({ isForAccount: false }),
    await forAccount({ isForAccount: false, digest: 'hourly' }),
  ];
  await createAlertedTask(ctx, buildCaller(alice.id), { webhookUrl: null, channels });
  await createAlertedTask(ctx, buildCaller(alice.id), { webhookUrl: null, channels: channels.slice(1) });
  clock.set(minutesAfter(15));
  await alertOverdue(ctx);
  await deliver();
  clock.advance(3_600_000);
  await deliver();
  const reports = (await readNotices()).filter(({ kind }) => kind === 'alert.undelivered');
  t.equal(reports.length, 2);
  for (const { message } of reports) t.match(message, /was not delivered by the channel "Team"\. Last error: .*500/);
  t.same((await ctx.db.select().from(endpoints).where(eq(endpoints.status, 'failed'))).length, 2);
});
