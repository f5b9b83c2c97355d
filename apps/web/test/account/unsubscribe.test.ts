import { eq } from 'drizzle-orm';
import t from 'tap';
import { notificationAddresses, notifications, users } from '../../../../packages/db/src/index.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { insertEmailChannel, readStatus } from '../../../api/test/support/email-channels.ts';
import { signUpAlice } from '../../../api/test/support/people.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx, logged } = await testContext(t);
const alice = await signUpAlice(app);
const ONE_CLICK = 'List-Unsubscribe=One-Click';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const post = (token: string, payload: string | Buffer = ONE_CLICK, headers: Record<string, string> = FORM) =>
  app.inject({ method: 'POST', url: `/unsubscribe/${token}`, headers, payload });

const listAddresses = async () =>
  (await ctx.db.select().from(notificationAddresses).where(eq(notificationAddresses.userId, alice.id))).map(
    ({ email }) => email,
  );

const countNotices = () => ctx.db.$count(notifications, eq(notifications.kind, 'channel.unsubscribed'));

t.test('A mail program ends the mails by one click, without cookies, a token or an origin', async (t) => {
  const channel = await insertEmailChannel(ctx, alice.id, 'team@example.com');
  const sameAddress = await insertEmailChannel(ctx, alice.id, 'team@example.com', { isConfirmed: false });
  const another = await insertEmailChannel(ctx, alice.id, 'other@example.com');
  t.equal((await post(channel.unsubscribeToken)).statusCode, 200);
  t.equal(await readStatus(ctx, channel), 'inactive');
  t.equal(await readStatus(ctx, sameAddress), 'inactive');
  t.equal(await readStatus(ctx, another), 'active');
  t.same(await listAddresses(), ['other@example.com'], 'the address has to be confirmed again');
  t.equal(await countNotices(), 1);
  t.equal((await post(channel.unsubscribeToken)).statusCode, 200);
  t.equal(await countNotices(), 1, 'a second click reports nothing');
});

t.test('It works as multipart, from another site and with the cookie of a session', async (t) => {
  const form = new FormData();
  form.append('List-Unsubscribe', 'One-Click');
  const encoded = new Response(form);
  const bytes = Buffer.from(await encoded.arrayBuffer());
  const multipart = { 'content-type': encoded.headers.get('content-type') ?? '' };
  const fromOther = { origin: 'https://mail.example.com', 'sec-fetch-site': 'cross-site' };
  const cookie = `local-session=${alice.token}`;
  for (const [payload, headers] of [
    [bytes, multipart],
    [ONE_CLICK, { ...FORM, ...fromOther }],
    [ONE_CLICK, { ...FORM, ...fromOther, cookie }],
  ] as const) {
    const channel = await insertEmailChannel(ctx, alice.id, 'one-more@example.com');
    t.equal((await post(channel.unsubscribeToken, payload, headers)).statusCode, 200);
    t.equal(await readStatus(ctx, channel), 'inactive');
  }
});

t.test('Opening the link, and a request without the field, change nothing', async (t) => {
  const channel = await insertEmailChannel(ctx, alice.id, 'scanned@example.com');
  const address = `/unsubscribe/${channel.unsubscribeToken}`;
  const page = await visit(app).open(address);
  t.match(page, { status: 200, heading: 'Unsubscribe from this mail' });
  t.equal(page.document.querySelectorAll('button').length, 1);
  await app.inject({ method: 'HEAD', url: address });
  for (const payload of ['', 'List-Unsubscribe=No', 'token=x', '%', 'a='.repeat(500)]) {
    const { statusCode } = await post(channel.unsubscribeToken, payload);
    t.ok(statusCode === 422, `${payload.slice(0, 20)} is ${statusCode}`);
  }
  t.ok((await post(channel.unsubscribeToken, '{}', { 'content-type': 'application/json' })).statusCode < 500);
  const cut = { 'content-type': 'multipart/form-data; boundary=x' };
  t.ok((await post(channel.unsubscribeToken, '--x\r\n', cut)).statusCode < 500);
  t.equal(await readStatus(ctx, channel), 'active');
  const done = await visit(app).submit(page, 'Unsubscribe');
  t.match(done, { status: 200, heading: 'You are unsubscribed' });
  t.equal(await readStatus(ctx, channel), 'inactive');
});

t.test('A link that was never sent gets the same pages', async (t) => {
  const channel = await insertEmailChannel(ctx, alice.id, 'known@example.com');
  const before = await countNotices();
  for (const token of ['x', 'a'.repeat(64), '%3Cscript%3E', 'a'.repeat(90)]) {
    const unknown = await visit(app).open(`/unsubscribe/${token}`);
    const known = await visit(app).open(`/unsubscribe/${channel.unsubscribeToken}`);
    t.equal(unknown.text, known.text);
    t.match(await visit(app).submit(unknown, 'Unsubscribe'), { status: 200, heading: 'You are unsubscribed' });
  }
  t.equal(await countNotices(), before);
  t.equal(await readStatus(ctx, channel), 'active');
});

t.test('The verified address of the account ends one channel, and stays confirmed', async (t) => {
  await ctx.db.update(users).set({ emailVerifiedAt: ctx.now() }).where(eq(users.id, alice.id));
  const [first, second] = [
    await insertEmailChannel(ctx, alice.id, alice.email, { isConfirmed: false }),
    await insertEmailChannel(ctx, alice.id, alice.email, { isConfirmed: false }),
  ];
  await post(first.unsubscribeToken);
  t.same([await readStatus(ctx, first), await readStatus(ctx, second)], ['inactive', 'active']);
});

t.test('The token of a link is in no log, title or referrer', async (t) => {
  const { unsubscribeToken } = await insertEmailChannel(ctx, alice.id, 'secret@example.com');
  const { document, response } = await visit(app).open(`/unsubscribe/${unsubscribeToken}`);
  t.equal(response.headers['referrer-policy'], 'no-referrer');
  t.equal(response.headers['cache-control'], 'no-store');
  t.notMatch(document.toString(), unsubscribeToken);
  await post(unsubscribeToken);
  t.notMatch(JSON.stringify(logged), unsubscribeToken);
});
