import { mails, notifications, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { notifyUsers } from '../../src/product/notifications/write.ts';
import { inTransaction } from '../../src/transaction.ts';
import { START, testContext } from '../support/context.ts';
import { confirmAddresses, deliverDueMails } from '../support/mails.ts';
import { signUpAlice, signUpBob } from '../support/people.ts';
import { startMailServer } from '../support/servers/mail-server.ts';

const server = await startMailServer(t);
const { app, ctx, clock } = await testContext(t, {
  env: { SMTP_URL: server.url, APP_URL: 'https://bells.example.com' },
});
t.beforeEach(async () => {
  clock.set(START);
  server.received.length = 0;
  await ctx.db.delete(mails);
  await ctx.db.delete(users);
});

const notice = (userId: number) => ({
  userId,
  kind: 'task.failed',
  title: 'Task "News"\r\nBcc: eve@example.com failed',
  message: 'It will not run again until you resume it.',
  path: '/tasks/7',
});

t.test('A notification is on the dashboard and in a mail', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  await notifyUsers(ctx, [notice(alice.id), notice(alice.id), notice(bob.id)]);
  await deliverDueMails(ctx);
  const [first] = await ctx.db.select().from(notifications);
  t.match(first, { ...notice(alice.id), readAt: null, createdAt: START });
  t.same(server.received.map(({ envelope }) => envelope.to[0]).toSorted(), [alice.email, alice.email, bob.email]);
  t.match(server.received[0], { subject: 'Task "News" Bcc: eve@example.com failed', text: /^It will not run again/ });
  t.match(server.received[0]?.text, 'https://bells.example.com');
});

t.test('A user without mail, or deactivated, has the notification on the dashboard only', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  await ctx.db.update(users).set({ notifyEmail: false }).where(eq(users.id, alice.id));
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, bob.id));
  await notifyUsers(ctx, [notice(alice.id), notice(bob.id)]);
  await deliverDueMails(ctx);
  t.equal(await ctx.db.$count(notifications), 2);
  t.equal(server.received.length, 0);
});

t.test('A notification of a rolled-back transaction is never sent', async (t) => {
  const alice = await signUpAlice(app);
  const failing = inTransaction(ctx, async (tx) => {
    await notifyUsers(tx, [notice(alice.id)]);
    throw new Error('too bad');
  });
  await t.rejects(failing, { message: 'too bad' });
  t.same([await ctx.db.$count(notifications), await ctx.db.$count(mails)], [0, 0]);
});

t.test('Each notification address gets a mail once, with the reason', async (t) => {
  const alice = await signUpAlice(app);
  const notificationEmails = ['team@example.com', alice.email, 'boss@example.com'];
  await ctx.db.update(users).set({ notificationEmails }).where(eq(users.id, alice.id));
  await confirmAddresses(ctx, alice.id, ['team@example.com', 'boss@example.com']);
  await notifyUsers(ctx, [notice(alice.id)]);
  await deliverDueMails(ctx);
  const texts = new Map(server.received.map(({ envelope, text = '' }) => [envelope.to.join(), text]));
  t.same([...texts.keys()].sort(), [alice.email, 'boss@example.com', 'team@example.com']);
  t.equal(server.received.length, 3);
  t.match(texts.get(alice.email), 'as the owner of a Carillon account');
  t.match(texts.get('team@example.com'), `the Carillon account ${alice.email} sends its notifications to this address`);
  t.equal(await ctx.db.$count(notifications), 1);
});

t.test('Notification addresses get no mail either if the user wants none or is deactivated', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  await ctx.db.update(users).set({ notificationEmails: ['team@example.com'] });
  for (const { id } of [alice, bob]) await confirmAddresses(ctx, id, ['team@example.com']);
  await ctx.db.update(users).set({ notifyEmail: false }).where(eq(users.id, alice.id));
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, bob.id));
  await notifyUsers(ctx, [notice(alice.id), notice(bob.id)]);
  await deliverDueMails(ctx);
  t.equal(server.received.length, 0);
});

t.test('Beyond 200 mails in 24 hours the notifications of an account are on the dashboard only', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const many = Array.from({ length: 100 }, () => notice(alice.id));
  for (let round = 0; round < 3; round++) await notifyUsers(ctx, many);
  await notifyUsers(ctx, [notice(bob.id)]);
  t.equal(await ctx.db.$count(mails, eq(mails.userId, alice.id)), 200);
  t.equal(await ctx.db.$count(mails, eq(mails.userId, bob.id)), 1, 'the limit is per account');
  t.equal(await ctx.db.$count(notifications), 301);
  clock.advance(24 * 60 * 60 * 1000);
  await notifyUsers(ctx, [notice(alice.id)]);
  t.equal(await ctx.db.$count(mails, eq(mails.userId, alice.id)), 201);
});
