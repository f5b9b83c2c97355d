import { mails } from '@carillon/db';
import t from 'tap';
import { queueMail } from '../../src/lib/mail/queue.ts';
import { inTransaction } from '../../src/transaction.ts';
import { testContext } from '../support/context.ts';
import { countStatementsInTransactions } from '../support/database.ts';
import { deliverDueMails } from '../support/mails.ts';
import { type ReceivedMail, startMailServer } from '../support/servers/mail-server.ts';

const server = await startMailServer(t);
const { ctx } = await testContext(t, { env: { SMTP_URL: server.url } });
t.beforeEach(async () => {
  server.received.length = 0;
  await ctx.db.delete(mails);
});

const MAIL = { to: 'alice@example.com', subject: 'The news', text: 'Nothing happened.\n' };

async function send(mail: typeof MAIL): Promise<ReceivedMail> {
  server.received.length = 0;
  await queueMail(ctx, mail);
  await deliverDueMails(ctx);
  const [received] = server.received;
  if (!received) throw new Error('No mail came.');
  return received;
}

t.test('The mail of a rolled-back transaction is never sent', async (t) => {
  const failing = inTransaction(ctx, async (tx) => {
    await queueMail(tx, MAIL);
    throw new Error('too bad');
  });
  await t.rejects(failing, { message: 'too bad' });
  await deliverDueMails(ctx);
  t.equal(server.received.length, 0);
});

t.test('A subject cannot add a header or a mail', async (t) => {
  for (const breaking of ['\r\n', '\n', '\r', '\r\n\r\n', '\u0000\r\n', '\u2028', '\u0085', '\r\n.\r\n']) {
    const subject = `Task "a${breaking}Bcc: eve@example.com${breaking}b" failed`;
    const { headers, raw, ...mail } = await send({ ...MAIL, subject });
    t.equal(mail.subject, subject.replace(/[\p{Cc}\s]+/gu, ' '), encodeURIComponent(breaking));
    t.notOk(headers.some(({ key }) => key === 'bcc'));
    t.same(mail.envelope.to, ['alice@example.com']);
    t.equal(raw.match(/^(Subject|To|From|Bcc|Content-Type):/gim)?.length, 4, 'each header is there once');
  }
});

t.test('A subject of any script arrives unchanged, up to 200 characters', async (t) => {
  t.equal(
    (await send({ ...MAIL, subject: 'Tarefa "relatório diário" 🔔 falhou' })).subject,
    'Tarefa "relatório diário" 🔔 falhou',
  );
  t.equal((await send({ ...MAIL, subject: 'x'.repeat(5000) })).subject, 'x'.repeat(200));
  t.equal((await send({ ...MAIL, subject: 'a\ud800b' })).subject, 'a\ufffdb');
});

t.test('A text arrives unchanged', async (t) => {
  for (const text of [
    'A line of a single dot:\n.\nAnd on it goes.\n',
    `${'long '.repeat(400)}\n`,
    'Subject: not a header\n\nBcc: eve@example.com\n',
    'Olá, 世界 🔔\n',
    '--boundary\nContent-Type: text/html\n\n<b>no</b>\n',
  ]) {
    const { text: arrived, html, attachments } = await send({ ...MAIL, text });
    t.equal(arrived?.replaceAll('\r\n', '\n'), text);
    t.notOk(html);
    t.same(attachments, []);
  }
});

t.test('A recipient is a single address', async (t) => {
  const { to, envelope } = await send({ ...MAIL, to: "o'brien+news@example.com" });
  t.match(to, [{ address: "o'brien+news@example.com" }]);
  t.same(envelope.to, ["o'brien+news@example.com"]);
  for (const to of [
    'alice@example.com, eve@example.com',
    'alice@example.com\r\nRCPT TO:<eve@example.com>',
    '<a@example.com> <eve@example.com>',
  ]) {
    server.received.length = 0;
    await ctx.db.delete(mails);
    await queueMail(ctx, { ...MAIL, to });
    await deliverDueMails(ctx);
    t.notOk(
      server.received.some(({ envelope }) => envelope.to.includes('eve@example.com')),
      to,
    );
  }
});

t.test('While no mail is due, a process sends one statement to find that out', async (t) => {
  const statements = countStatementsInTransactions(ctx.db);
  await deliverDueMails(ctx);
  t.equal(statements(), 1);
});
