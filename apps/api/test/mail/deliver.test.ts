import { mails, users } from '@carillon/db';
import { eq, isNotNull } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../src/context.ts';
import { queueMail, queueMails } from '../../src/lib/mail/queue.ts';
import { START, testContext } from '../support/context.ts';
import { passTime } from '../support/leases.ts';
import { deliverDueMails } from '../support/mails.ts';
import { signUpAlice, signUpBob } from '../support/people.ts';
import { startMailServer } from '../support/servers/mail-server.ts';

const server = await startMailServer(t);
const { app, ctx, clock } = await testContext(t, {
  env: { SMTP_URL: server.url, MAIL_FROM: 'Carillon <bells@example.com>' },
});
t.beforeEach(async () => {
  clock.set(START);
  server.received.length = 0;
  server.answer('take');
  server.beforeAccepting(async () => {});
  await ctx.db.delete(mails);
  await ctx.db.delete(users);
});

const MAIL = { to: 'alice@example.com', subject: 'The news', text: 'Nothing happened.\n' };

async function stored() {
  const [row] = await ctx.db.select().from(mails);
  if (!row) throw new Error('No mail is stored.');
  return row;
}

t.test('A queued mail arrives once, from the configured sender', async (t) => {
  await queueMail(ctx, MAIL);
  await deliverDueMails(ctx);
  await deliverDueMails(ctx);
  const [mail, ...more] = server.received;
  t.same(more, []);
  t.match(mail, { subject: 'The news', date: START.toISOString(), text: 'Nothing happened.\n' });
  t.same(mail?.envelope, { from: 'bells@example.com', to: ['alice@example.com'] });
  t.match(mail?.from, { name: 'Carillon', address: 'bells@example.com' });
  t.equal(
    mail?.headers.find(({ key }) => key === 'auto-submitted')?.value,
    'auto-generated',
    'auto-responders ignore it',
  );
});

t.test('The text of a sent mail is deleted', async (t) => {
  await queueMail(ctx, MAIL);
  const waiting = await stored();
  t.notMatch(JSON.stringify(waiting), 'Nothing happened', 'its text is stored encrypted');
  await deliverDueMails(ctx);
  t.match(await stored(), { sentAt: START, bodyEncrypted: null, nextAttemptAt: null, failedAt: null, error: null });
});

t.test('Concurrent processes send each mail once', async (t) => {
  await queueMails(
    ctx,
    Array.from({ length: 45 }, (_, at) => ({ ...MAIL, subject: `Number ${at}` })),
  );
  await Promise.all(Array.from({ length: 4 }, () => deliverDueMails(ctx)));
  t.equal(server.received.length, 45);
  t.equal(new Set(server.received.map(({ subject }) => subject)).size, 45);
});

t.test('The mail of a dead process is sent by another one after its lease', async (t) => {
  await queueMail(ctx, MAIL);
  const dying: Context = { ...ctx, mail: { ...ctx.mail, send: () => Promise.reject(new Error('killed')) } };
  await deliverDueMails(dying);
  await passTime({ ctx, clock }, 115_000);
  await deliverDueMails(ctx);
  t.equal(server.received.length, 0);
  await passTime({ ctx, clock }, 5000);
  await deliverDueMails(ctx);
  t.equal(server.received.length, 1);
});

t.test('A process that lost its lease does not overwrite a later attempt', async (t) => {
  await queueMail(ctx, MAIL);
  server.beforeAccepting(async () => {
    server.beforeAccepting(async () => {});
    await passTime({ ctx, clock }, 120_000);
    await deliverDueMails(ctx);
    await passTime({ ctx, clock }, 60_000);
  });
  await deliverDueMails(ctx);
  t.equal(server.received.length, 2, 'at least once');
  t.same(new Set(server.received.map(({ messageId }) => messageId)).size, 1, 'both have the same message id');
  t.match(await stored(), { attempt: 2, sentAt: new Date(START.getTime() + 120_000) });
});

t.test('A process that stops claims no more mails, and waits for confirmations', async (t) => {
  const stop = new AbortController();
  const stopping: Context = { ...ctx, worker: { ...ctx.worker, stopping: stop.signal } };
  await queueMails(ctx, Array(25).fill(MAIL));
  server.beforeAccepting(async () => stop.abort());
  await deliverDueMails(stopping);
  t.equal(server.received.length, 10);
  t.equal(await ctx.db.$count(mails, isNotNull(mails.sentAt)), 10);
  await deliverDueMails(stopping);
  t.equal(server.received.length, 10);
});

t.test('A process that stops abandons a hanging mail server, and another one sends the mail', async (t) => {
  const stop = new AbortController();
  const stopping: Context = { ...ctx, worker: { ...ctx.worker, stopping: stop.signal } };
  await queueMail(ctx, MAIL);
  server.answer('hang');
  const delivering = deliverDueMails(stopping, { graceMs: 10 });
  stop.abort();
  await delivering;
  server.answer('take');
  clock.advance(30_000);
  await deliverDueMails(ctx);
  t.equal(server.received.length, 1);
});

t.test('Mails are deleted with their account', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  await queueMails(ctx, [
    { ...MAIL, userId: alice.id },
    { ...MAIL, to: bob.email, userId: bob.id },
  ]);
  await ctx.db.delete(users).where(eq(users.id, alice.id));
  await deliverDueMails(ctx);
  t.same(
    server.received.map(({ envelope }) => envelope.to),
    [['bob@example.com']],
  );
});
