import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { notificationAddresses } from '@carillon/db';
import { eq } from 'drizzle-orm';
import { parse } from 'node-html-parser';
import { pino } from 'pino';
import t from 'tap';
import type { Context } from '../../../src/context.ts';
import { createMail } from '../../../src/lib/mail/transport.ts';
import { unsubscribe } from '../../../src/product/deliveries/channels/unsubscribe.ts';
import { email } from '../../../src/product/deliveries/messages/kinds/email.ts';
import type { ChannelMessage } from '../../../src/product/deliveries/messages/message.ts';
import { testContext } from '../../support/context.ts';
import { type EmailChannel, insertEmailChannel } from '../../support/email-channels.ts';
import { signUpAlice } from '../../support/people.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { RUN_URL } from './support/hostile-answers.ts';

const server = await startMailServer(t);
const FROM = 'Carillon <bells@example.com>';
const { app, ctx, logged } = await testContext(t, {
  env: { SMTP_URL: server.url, MAIL_FROM: FROM, APP_URL: 'https://carillon.example' },
});
const alice = await signUpAlice(app);
const channel = await insertEmailChannel(ctx, alice.id, 'team@example.com');
const ID = '00000000-0000-4000-8000-000000000001';

t.beforeEach(() => {
  server.received.length = 0;
  server.answer('take');
});

const MESSAGE: ChannelMessage = {
  reader: { language: 'en', timezone: null },
  level: 'success',
  title: 'Prices',
  text: null,
  markdown: 'The price **fell**.',
  citations: [],
  changes: [],
  url: RUN_URL,
  at: new Date('2026-11-20T10:00:00.000Z'),
  items: [],
};

const send = (
  message: Partial<ChannelMessage> = {},
  to: EmailChannel = channel,
  context: Context = ctx,
  signal?: AbortSignal,
) =>
  email.send(context, JSON.parse(to.settings), {
    id: ID,
    channelId: to.id,
    message: { ...MESSAGE, ...message },
    ...(signal && { signal }),
  });

const receive = async (message: Partial<ChannelMessage>) => {
  t.match(await send(message), { kind: 'mailed', status: null, error: null });
  const mail = server.received.pop();
  if (!mail) throw new Error('No mail came.');
  return mail;
};

t.test(
  'A mail has an HTML and a plain part, the headers of one-click unsubscribing and the id of its delivery',
  async (t) => {
    const mail = await receive({
      changes: [{ path: 'price', from: 12.5, to: 11.9 }, { path: 'note', from: 'until May' }, { path: '' }],
    });
    const link = `https://carillon.example/unsubscribe/${channel.unsubscribeToken}`;
    t.match(mail, {
      subject: 'Prices',
      from: { address: 'bells@example.com', name: 'Carillon' },
      messageId: `<${ID}@example.com>`,
      envelope: { to: ['team@example.com'] },
    });
    const headers = new Map(mail.headers.map(({ key, value }) => [key, value]));
    t.equal(headers.get('list-unsubscribe'), `<${link}>`);
    t.equal(headers.get('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
    t.equal(headers.get('auto-submitted'), 'auto-generated');
    const document = parse(mail.html ?? '');
    t.equal(document.querySelector('h1')?.text, 'Prices');
    t.equal(document.querySelector('strong')?.text, 'fell');
    t.equal(document.querySelector('del')?.text, '12.5');
    t.equal(document.querySelector('ins')?.text, '11.9');
    t.match(document.text, /There are further changes/);
    t.same(
      document.querySelectorAll('a').map((one) => one.getAttribute('href')),
      [RUN_URL, link],
    );
    t.match(mail.text, /price: 12\.5 → 11\.9\n {2}note: until May → missing/);
    t.match(mail.text, /The price fell\./);
    t.match(mail.text, RUN_URL);
    t.match(
      mail.text,
      `The Carillon account ${alice.email} sends you this through its channel “Team mailbox”.\nUnsubscribe: ${link}`,
    );
  },
);

t.test('What changed in a text is shown by its lines', async (t) => {
  const { html, text } = await receive({ changes: [{ path: '', from: 'one\ntwo\nthree', to: 'one\n2\nthree' }] });
  const document = parse(html ?? '');
  t.equal(document.querySelector('del')?.text, '− two');
  t.equal(document.querySelector('ins')?.text, '+ 2');
  t.match(text, /- two\n {2}\+ 2\n/);
});

t.test('A digest lists what came, and shows each message in one mail of bounded size', async (t) => {
  const items = Array.from({ length: 150 }, (_, n) => ({
    ...MESSAGE,
    title: `Task ${n + 1}`,
    markdown: `Answer ${n + 1}: ${'word '.repeat(4000)}`,
    url: `${RUN_URL}${n}`,
  }));
  const short = await receive({ title: '2 messages', level: 'notice', markdown: null, items: items.slice(0, 2) });
  t.equal(short.subject, '2 messages: Task 1, Task 2');
  t.same(
    parse(short.html ?? '')
      .querySelectorAll('h2')
      .map((one) => one.text),
    ['In this mail', 'Task 1', 'Task 2'],
  );
  t.match(short.text, /1\. Task 1 \(Completed, .*\n2\. Task 2/);
  const long = await receive({ title: '150 messages', level: 'notice', markdown: null, items });
  t.ok(long.raw.length < 220_000, `${long.raw.length} bytes`);
  t.equal(
    parse(long.html ?? '')
      .querySelectorAll('ol')[0]
      ?.querySelectorAll('li').length,
    100,
  );
  t.match(long.text, /And 50 more\./);
  t.match(long.text, /Answer 20: word/);
  t.notMatch(long.text, /Answer 21: word/);
});

t.test('No text gets into the headers of a mail, nor into those of its parts', async (t) => {
  const text = 'x\r\nBcc: eve@example.com\r\n\r\n<b>\u2028Cc: eve@example.com\n.\nRCPT TO:<eve@example.com>';
  const boundary = '------=_NextPart\n--\n.\n';
  for (const message of [{ title: text }, { markdown: text }, { title: boundary, markdown: boundary, text }]) {
    const { headers, envelope, to, attachments, raw } = await receive(message);
    const names = headers.map(({ key }) => key);
    t.same(new Set(names).size, names.length, 'each header once');
    t.notOk(names.some((name) => ['bcc', 'cc'].includes(name)));
    t.same(envelope.to, ['team@example.com']);
    t.same(
      to?.map(({ address }) => address),
      ['team@example.com'],
    );
    t.equal(attachments.length, 0);
    t.equal(raw.match(/^Content-Type: text\//gm)?.length, 2, 'two parts');
  }
});

t.test('A refused recipient ends the channel, anything else of the mail server is tried again', async (t) => {
  const cases = [
    [{ at: 'RCPT', code: 550, text: 'No such user' }, true],
    [{ at: 'DATA', code: 554, text: 'Rejected' }, true],
    [{ at: 'RCPT', code: 450, text: 'Mailbox busy' }, undefined],
    [{ at: 'DATA', code: 452, text: 'Too many mails' }, undefined],
    [{ at: 'MAIL', code: 553, text: 'Sender refused' }, undefined],
  ] as const;
  for (const [answer, isGone] of cases) {
    server.answer(answer);
    const outcome = await send();
    t.match(outcome, {
      kind: 'mailed',
      status: null,
      error: `The mail server answered: ${answer.code} ${answer.text}`,
    });
    t.equal(outcome.isGone, isGone, answer.text);
  }
  t.equal(server.received.length, 0);
});

t.test(
  'A server that hangs, is gone or closes the connection is tried again, and its address is not shown',
  async (t) => {
    const rude = createServer((socket) => socket.destroy());
    const silent = createServer((socket) => socket.on('error', () => {}));
    for (const server of [rude, silent]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    const ports = [rude, silent].map((one) => (one.address() as AddressInfo).port);
    const patience = { connectMs: 150, idleMs: 150, totalMs: 300 };
    for (const port of [...ports, 1]) {
      const settings = { ...ctx.config.mail, smtpUrl: `smtp://127.0.0.1:${port}` };
      const mail = createMail(settings, pino({ level: 'silent' }), patience);
      const outcome = await send({}, channel, { ...ctx, mail });
      await mail.close();
      t.match(outcome, {
        kind: 'mailed',
        status: null,
        error: 'The mail server could not be reached, or did not answer.',
      });
      t.notOk(outcome.isGone);
    }
    server.answer('hang');
    const stop = AbortSignal.timeout(200);
    t.match(await send({}, channel, ctx, stop), { kind: 'aborted' });
    silent.close();
    rude.close();
  },
);

t.test('Nothing is sent to an address that is not confirmed, or that has unsubscribed', async (t) => {
  const gone = { kind: 'not_sent', error: 'Nothing was sent: the address is not confirmed.', isGone: true };
  const unconfirmed = await insertEmailChannel(ctx, alice.id, 'stranger@example.com', { isConfirmed: false });
  t.match(await send({}, unconfirmed), gone);
  await ctx.db.insert(notificationAddresses).values({
    userId: alice.id,
    email: 'stranger@example.com',
    tokenHash: 'x',
    expiresAt: ctx.now(),
  });
  t.match(await send({}, unconfirmed), gone, 'the link was not opened');
  const digest = { level: 'notice', markdown: null, items: [MESSAGE] } as const;
  t.match(await send(digest, unconfirmed), gone);
  const confirmed = await insertEmailChannel(ctx, alice.id, 'reader@example.com');
  t.match(await send({}, confirmed), { error: null });
  await unsubscribe(ctx, confirmed.unsubscribeToken);
  t.match(await send({}, confirmed), gone);
  t.match(await send({}, { ...channel, settings: '{"address":"team@example.com"}' }), gone, 'without a link');
  t.same(
    server.received.map((mail) => mail.envelope.to),
    [['reader@example.com']],
  );
  t.equal(
    (await ctx.db.select().from(notificationAddresses).where(eq(notificationAddresses.email, 'reader@example.com')))
      .length,
    0,
  );
});

t.test('No log has the link that ends the mails', async (t) => {
  await send();
  server.answer({ at: 'RCPT', code: 450, text: 'Busy' });
  await send();
  t.notMatch(JSON.stringify(logged), channel.unsubscribeToken);
});
