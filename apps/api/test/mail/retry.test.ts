import { mails } from '@carillon/db';
import t from 'tap';
import { queueMail, queueMails } from '../../src/lib/mail/queue.ts';
import { createMail } from '../../src/lib/mail/transport.ts';
import { START, testContext } from '../support/context.ts';
import { deliverDueMails } from '../support/mails.ts';
import { startMailServer } from '../support/servers/mail-server.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const server = await startMailServer(t);
const { ctx, clock, logged } = await testContext(t, {
  env: { SMTP_URL: server.url, MAIL_FROM: 'Carillon <bells@example.com>' },
});
t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  server.received.length = 0;
  server.answer('take');
  await ctx.db.delete(mails);
});

const MAIL = { to: 'alice@example.com', subject: 'The news', text: 'Nothing happened.\n' };

async function stored() {
  const [row] = await ctx.db.select().from(mails);
  if (!row) throw new Error('No mail is stored.');
  return row;
}

t.test('No mail is lost when the mail server is down for two hours', async (t) => {
  await server.stop();
  await queueMail(ctx, MAIL);
  const waits: number[] = [];
  for (let now = START.getTime(); now < START.getTime() + 2 * HOUR_MS; ) {
    await deliverDueMails(ctx);
    const next = (await stored()).nextAttemptAt?.getTime() ?? 0;
    waits.push((next - now) / MINUTE_MS);
    now = next;
    clock.set(new Date(now));
  }
  t.same(waits, [0.5, 2, 5, 15, 30, 60, 60], 'the waits grow up to an hour');
  t.match((await stored()).error, 'ECONNREFUSED');
  await server.start();
  await deliverDueMails(ctx);
  t.equal(server.received.length, 1);
  t.match(await stored(), { attempt: 8, error: null });
});

t.test('A mail is not retried before its time', async (t) => {
  server.answer({ at: 'DATA', code: 451, text: 'Later, please' });
  await queueMail(ctx, MAIL);
  await deliverDueMails(ctx);
  clock.advance(29_999);
  await deliverDueMails(ctx);
  t.match(await stored(), { attempt: 1, error: '451 Later, please' });
  clock.advance(1);
  await deliverDueMails(ctx);
  t.equal((await stored()).attempt, 2);
});

t.test('A mail fails after a day of attempts, and the log says so', async (t) => {
  server.answer({ at: 'RCPT', code: 450, text: 'Mailbox busy' });
  await queueMail(ctx, MAIL);
  let attempts = 0;
  for (let row = await stored(); row.nextAttemptAt; row = await stored()) {
    clock.set(row.nextAttemptAt);
    await deliverDueMails(ctx);
    attempts += 1;
  }
  t.equal(attempts, 29);
  const { failedAt, bodyEncrypted, error } = await stored();
  t.ok(failedAt && failedAt.getTime() - START.getTime() > 23 * HOUR_MS);
  t.same([bodyEncrypted, error], [null, '450 Mailbox busy']);
  t.match(logged.at(-1), { level: 50, msg: 'mail failed', reason: '450 Mailbox busy', attempt: 29 });
});

t.test('A permanently refused mail fails at once', async (t) => {
  for (const at of ['RCPT', 'DATA'] as const) {
    await ctx.db.delete(mails);
    server.answer({ at, code: 550, text: 'No such person here' });
    await queueMail(ctx, MAIL);
    await deliverDueMails(ctx);
    t.match(await stored(), { attempt: 1, failedAt: START, nextAttemptAt: null, error: '550 No such person here' });
  }
});

t.test('A mail whose sender is refused waits until the operator corrects that', async (t) => {
  server.answer({ at: 'MAIL', code: 553, text: 'You may not send as bells@example.com' });
  await queueMail(ctx, MAIL);
  await deliverDueMails(ctx);
  t.match(await stored(), { failedAt: null, error: '553 You may not send as bells@example.com' });
  server.answer('take');
  clock.advance(MINUTE_MS);
  await deliverDueMails(ctx);
  t.equal(server.received.length, 1);
});

t.test('A refused mail does not delay others', async (t) => {
  server.answer({ at: 'RCPT', code: 550, text: 'No such person here' });
  await queueMail(ctx, MAIL);
  await deliverDueMails(ctx);
  server.answer('take');
  await queueMails(ctx, [MAIL, { ...MAIL, to: 'bob@example.com' }]);
  await deliverDueMails(ctx);
  t.equal(server.received.length, 2);
});

t.test('A mail to a server that never answers times out and is retried', async (t) => {
  const mail = createMail(ctx.config.mail, ctx.log, { connectMs: 20_000, idleMs: 20_000, totalMs: 500 });
  t.teardown(() => mail.close());
  server.answer('hang');
  await queueMails(ctx, [MAIL, MAIL]);
  await deliverDueMails({ ...ctx, mail });
  t.match(await stored(), { attempt: 1, failedAt: null, error: 'The mail server did not answer in time.' });
  server.answer('take');
  clock.advance(MINUTE_MS);
  await deliverDueMails(ctx);
  t.equal(server.received.length, 2);
});
