import { mails, passwordResets, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { getReset, requestReset } from '../../src/product/auth/password-reset.ts';
import { START, testContext } from '../support/context.ts';
import { deliverDueMails } from '../support/mails.ts';
import { signUpAlice, signUpBob } from '../support/people.ts';
import { getResetLink, getResetToken, startMailServer } from '../support/servers/mail-server.ts';

const MINUTE_MS = 60_000;

const server = await startMailServer(t);
const { app, ctx, clock, logged } = await testContext(t, {
  env: {
    SMTP_URL: server.url,
    APP_URL: 'https://bells.example.com/',
    RATE_LIMIT_MULTIPLIER: '1000',
    LOG_LEVEL: 'trace',
  },
});
t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  server.received.length = 0;
  server.answer('take');
  await ctx.db.delete(mails);
  await ctx.db.delete(users);
});

const forgot = (email: unknown, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/api/auth/forgot-password', payload: { email } as object, headers });
const validate = (token: string) => app.inject({ url: '/api/auth/validate-reset-token', query: { token } });

const message = 'If this address has an account, a link to choose a new password is on its way.';

t.test('The mail has the link of the specification, whose token is valid for an hour', async (t) => {
  const alice = await signUpAlice(app);
  const answer = await forgot('alice@example.com');
  t.same([answer.statusCode, answer.json()], [200, { success: true, message }]);
  await deliverDueMails(ctx);
  const [mail, ...more] = server.received;
  if (!mail) throw new Error('No mail came.');
  t.same(more, []);
  t.same(mail.envelope.to, ['alice@example.com']);
  t.equal(mail.subject, 'Reset your password');
  t.match(getResetLink(mail), /^https:\/\/bells\.example\.com\/handler\/reset-password\/[0-9a-f]{64}$/);
  t.same((await validate(getResetToken(mail))).json(), { valid: true, userId: alice.id });
});

t.test('The mail is in the language that the account has when it is sent', async (t) => {
  const alice = await signUpAlice(app);
  await forgot(alice.email);
  await ctx.db.update(users).set({ language: 'pt-BR' }).where(eq(users.id, alice.id));
  await deliverDueMails(ctx);
  const [mail] = server.received;
  t.match(mail, { subject: 'Redefina sua senha', text: /^Olá,\n[\s\S]*Abra este link/ });
  t.match(mail && getResetLink(mail), /reset-password/);
});

t.test('The e-mail address is matched in any case, and the mail goes to the one of the account', async (t) => {
  await signUpAlice(app);
  t.equal((await forgot('  ALICE@example.COM ')).statusCode, 200);
  await deliverDueMails(ctx);
  t.same(
    server.received.map(({ envelope }) => envelope.to),
    [['alice@example.com']],
  );
});

t.test('Unknown addresses and deactivated accounts get the same answer, and no mail', async (t) => {
  const bob = await signUpBob(app);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, bob.id));
  for (const email of ['nobody@example.com', 'bob@example.com']) {
    const answer = await forgot(email);
    t.same([answer.statusCode, answer.json()], [200, { success: true, message }]);
  }
  t.equal(await ctx.db.$count(mails), 2, 'until it is delivered, a request is one row for everybody');
  await deliverDueMails(ctx);
  t.same([server.received.length, await ctx.db.$count(mails), await ctx.db.$count(passwordResets)], [0, 0, 0]);
});

t.test('A request does not wait for the mail server, and loses nothing while it is down', async (t) => {
  await signUpAlice(app);
  await server.stop();
  t.equal((await forgot('alice@example.com')).statusCode, 200);
  await deliverDueMails(ctx);
  await server.start();
  clock.advance(30_000);
  await deliverDueMails(ctx);
  t.equal(server.received.length, 1);
});

t.test('The link is valid for an hour after the mail was sent', async (t) => {
  await signUpAlice(app);
  await server.stop();
  await forgot('alice@example.com');
  for (let minutes = 0; minutes < 300; minutes += 60) {
    await deliverDueMails(ctx);
    clock.advance(60 * MINUTE_MS);
  }
  await server.start();
  await deliverDueMails(ctx);
  const [mail] = server.received;
  clock.advance(59 * MINUTE_MS);
  t.equal((await validate(getResetToken(mail ?? {}))).statusCode, 200);
});

t.test('A new request voids the older link at once, before its own mail is sent', async (t) => {
  await signUpAlice(app);
  await forgot('alice@example.com');
  await deliverDueMails(ctx);
  const first = getResetToken(server.received[0] ?? {});
  clock.advance(1);
  await forgot('alice@example.com');
  const used = { valid: false, error: 'Token já utilizado' };
  t.same((await validate(first)).json(), used);
  await deliverDueMails(ctx);
  t.same((await validate(first)).json(), used);
  const second = getResetToken(server.received[1] ?? {});
  t.equal((await validate(second)).statusCode, 200);
  t.not(second, first);
});

t.test('A stranger’s request voids nothing', async (t) => {
  await signUpAlice(app);
  await signUpBob(app);
  await forgot('alice@example.com');
  await deliverDueMails(ctx);
  clock.advance(1);
  await forgot('bob@example.com');
  t.equal((await validate(getResetToken(server.received[0] ?? {}))).statusCode, 200);
});

t.test('Queued requests of one account make one mail, and its link works', async (t) => {
  await signUpAlice(app);
  await Promise.all(Array.from({ length: 20 }, () => forgot('alice@example.com')));
  await Promise.all([deliverDueMails(ctx), deliverDueMails(ctx), deliverDueMails(ctx)]);
  t.equal(server.received.length, 1);
  t.equal((await validate(getResetToken(server.received[0] ?? {}))).statusCode, 200);
});

t.test('20 requests from 20 networks send 3 mails, and the last link stays valid for its hour', async (t) => {
  const own = await testContext(t, { env: { SMTP_URL: server.url, RATE_LIMIT_MULTIPLIER: '1' } });
  const alice = await signUpAlice(own.app);
  for (let n = 0; n < 20; n++) {
    own.clock.advance(1000);
    for (const email of ['alice@example.com', 'unknown@example.com']) {
      const remoteAddress = `2001:db8:0:${n.toString(16)}::1`;
      const request = { method: 'POST', url: '/api/auth/forgot-password', remoteAddress, payload: { email } } as const;
      const answer = await own.app.inject(request);
      t.same([answer.statusCode, answer.json()], [200, { success: true, message }]);
    }
    await deliverDueMails(own.ctx);
    const last = getResetToken(server.received.at(-1) ?? {});
    t.same(await getReset(own.ctx, last), { userId: alice.id }, `the last link works after request ${n + 1}`);
  }
  t.equal(server.received.length, 3);
  own.clock.advance(59 * MINUTE_MS);
  t.same(await getReset(own.ctx, getResetToken(server.received.at(-1) ?? {})), { userId: alice.id });
});

t.test('Requests all day long send a mail an hour, so that the owner always has a valid link', async (t) => {
  const own = await testContext(t, { env: { SMTP_URL: server.url, RATE_LIMIT_MULTIPLIER: '1' } });
  const alice = await signUpAlice(own.app);
  for (let minute = 0; minute < 24 * 60; minute += 10) {
    await requestReset(own.ctx, { email: 'Alice@example.com' });
    await deliverDueMails(own.ctx);
    const last = getResetToken(server.received.at(-1) ?? {});
    t.same(await getReset(own.ctx, last), { userId: alice.id }, `the last link works after ${minute} minutes`);
    own.clock.advance(10 * MINUTE_MS);
  }
  t.equal(server.received.length, 30, '3 an hour up to 10, then 1 an hour');
});

t.test('The link has the configured host, not the Host of the request', async (t) => {
  await signUpAlice(app);
  await forgot('alice@example.com', {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    forwarded: 'host=evil.example',
    origin: 'https://evil.example',
    referer: 'https://evil.example/',
  });
  await deliverDueMails(ctx);
  t.notMatch(server.received[0]?.raw, 'evil');
});

t.test('Neither the token nor its link is stored or logged', async (t) => {
  const alice = await signUpAlice(app);
  await forgot('alice@example.com');
  const waiting = JSON.stringify(await ctx.db.select().from(mails));
  await deliverDueMails(ctx);
  const token = getResetToken(server.received[0] ?? {});
  await validate(token);
  const resets = await ctx.db.select().from(passwordResets);
  t.match(resets, [
    { userId: alice.id, tokenHash: /^[0-9a-f]{64}$/, expiresAt: new Date(START.getTime() + 3_600_000) },
  ]);
  const everywhere = [
    waiting,
    JSON.stringify(resets),
    JSON.stringify(await ctx.db.select().from(mails)),
    JSON.stringify(logged),
  ];
  for (const text of everywhere) t.notMatch(text, token);
});

t.test(
  'Every text is answered like an address without account, and one that is no address is not stored',
  async (t) => {
    for (const email of ['', ' ', 'alice', 'alice@example.com\r\nBcc: eve@example.com', 'a'.repeat(500_000)]) {
      const answer = await forgot(email);
      t.same([answer.statusCode, answer.json()], [200, { success: true, message }], email.slice(0, 50));
    }
    t.equal(await ctx.db.$count(mails), 0);
  },
);

t.test('A missing address, and what is no text, is a validation error', async (t) => {
  for (const email of [undefined, 12, null, ['alice@example.com'], 'a\0b@example.com']) {
    const answer = await forgot(email);
    t.equal(answer.statusCode, 400, JSON.stringify(email));
    t.same(Object.keys(answer.json().details), ['email']);
  }
});
