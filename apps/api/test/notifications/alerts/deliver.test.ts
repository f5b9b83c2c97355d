import { alerts, deliveries, endpoints, mails, notifications, users } from '@carillon/db';
import { and, asc, eq } from 'drizzle-orm';
import t from 'tap';
import { decryptBody } from '../../../src/lib/mail/queue.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { alertOverdue } from '../../../src/product/notifications/alerts/overdue.ts';
import { listNotifications } from '../../../src/product/notifications/read.ts';
import { deleteTask } from '../../../src/product/tasks/delete.ts';
import { createAlertedTask, minutesAfter, readAlerts } from '../../support/alerts.ts';
import { captureEvents } from '../../support/deliveries.ts';
import { testEngine } from '../../support/engine.ts';
import { confirmAddresses } from '../../support/mails.ts';

const { ctx, ai, clock, alice, newWorker } = await testEngine(t, { APP_URL: 'https://bells.example.com' });
const OWNER = 'alice@example.com';
const TEAM = 'team@example.com';

const readMails = async () => {
  const found = await ctx.db.select().from(mails).where(eq(mails.userId, alice().id)).orderBy(asc(mails.recipient));
  return found.map(({ id, bodyEncrypted, ...mail }) => ({ ...mail, text: decryptBody(ctx, id, bodyEncrypted ?? '') }));
};
const alertMails = async () => (await readMails()).filter(({ alertId }) => alertId !== null);
async function becomeOverdue() {
  clock.set(minutesAfter(15));
  await alertOverdue(ctx);
}

t.test(
  'An alert goes to the log, the webhooks that subscribe, the webhook of its task, and the notifications',
  async (t) => {
    const capture = await captureEvents(ctx, { id: alice().id } as never, ['task.overdue']);
    const captureOthers = await captureEvents(ctx, { id: alice().id } as never, ['task.failing']);
    const task = await createAlertedTask(ctx, alice());
    const other = await createAlertedTask(ctx, alice(), { alerts: {} });
    await becomeOverdue();
    const [alert] = await readAlerts(ctx, task);
    const [own] = await ctx.db.select().from(endpoints).where(eq(endpoints.taskId, task));
    const sent = await ctx.db
      .select()
      .from(deliveries)
      .where(eq(deliveries.alertId, alert?.id ?? 0));
    t.equal(sent.length, 2);
    t.ok(sent.some(({ webhookId }) => webhookId === own?.id));
    t.match(await capture(), [{ event: 'task.overdue', data: { task: { id: task, name: 'Morning news' } } }]);
    t.same(await captureOthers(), []);
    const { notifications } = await listNotifications(ctx, alice(), { limit: 20, offset: 0 });
    t.match(notifications, [{ kind: 'task.overdue', title: alert?.title, message: alert?.message }]);
    t.same(await readAlerts(ctx, other), []);
  },
);

t.test(
  'The address of the task gets a mail if it is confirmed, whatever the settings of the account are',
  async (t) => {
    await ctx.db.update(users).set({ notifyEmail: false }).where(eq(users.id, alice().id));
    await confirmAddresses(ctx, alice().id, [TEAM]);
    const task = await createAlertedTask(ctx, alice(), { webhookUrl: null, notificationEmail: TEAM });
    await createAlertedTask(ctx, alice(), { webhookUrl: null, notificationEmail: 'unconfirmed@example.com' });
    await becomeOverdue();
    const [alert] = await readAlerts(ctx, task);
    const [mail, ...rest] = await alertMails();
    t.same(rest, []);
    t.match(mail, { recipient: TEAM, subject: 'Task "Morning news" is overdue', alertId: alert?.id });
    t.match(mail?.text, alert?.message);
    t.match(mail?.text, `https://bells.example.com/tasks/${task}\n`);
    t.match(mail?.text, `because the Carillon account ${OWNER} sends the alerts of this task to this address.`);
  },
);

t.test('An address that gets the alerts of the task and the mail of the account gets one mail', async (t) => {
  const now = ctx.now();
  await ctx.db
    .update(users)
    .set({ notifyEmail: true, emailVerifiedAt: now, notificationEmails: [TEAM] })
    .where(eq(users.id, alice().id));
  await confirmAddresses(ctx, alice().id, [TEAM]);
  await createAlertedTask(ctx, alice(), { webhookUrl: null, notificationEmail: TEAM });
  await createAlertedTask(ctx, alice(), { webhookUrl: null, notificationEmail: OWNER });
  await becomeOverdue();
  t.same(
    (await alertMails()).map(({ recipient }) => recipient),
    [OWNER, OWNER, TEAM, TEAM],
  );
});

t.test('An alert is sent whatever the task says about its results', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { notify: 'change' });
  await becomeOverdue();
  const [alert] = await readAlerts(ctx, task);
  t.equal(await ctx.db.$count(deliveries, eq(deliveries.alertId, alert?.id ?? 0)), 1);
});

t.test('An alert of a run that an inbound webhook started is sent to no webhook', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { alerts: { failuresInRow: 1 } });
  ai.answer(() => ({ status: 401 }));
  await executeTask(ctx, alice(), task, 'inbound');
  await newWorker(t).drain();
  const [alert] = await readAlerts(ctx, task);
  t.equal(alert?.kind, 'task.failing');
  t.equal(await ctx.db.$count(deliveries, eq(deliveries.alertId, alert?.id ?? 0)), 0);
  const notified = and(eq(notifications.userId, alice().id), eq(notifications.kind, 'task.failing'));
  t.equal(await ctx.db.$count(notifications, notified), 1);
});

t.test('The alerts of a deleted task are deleted, and what was sent stays', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { notificationEmail: OWNER });
  await ctx.db.update(users).set({ notifyEmail: true }).where(eq(users.id, alice().id));
  await becomeOverdue();
  t.equal((await alertMails()).length, 1);
  await deleteTask(ctx, alice(), task);
  t.equal(await ctx.db.$count(alerts, eq(alerts.userId, alice().id)), 0);
  t.ok((await readMails()).some(({ subject }) => subject.includes('is overdue')));
});
