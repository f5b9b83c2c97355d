import { endpoints, mails, notificationAddresses } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { hashLinkToken } from '../../../src/lib/crypto/tokens.ts';
import { createChannel } from '../../../src/product/deliveries/channels/write.ts';
import { decryptSecret } from '../../../src/product/deliveries/queue/secret.ts';
import { confirmNotificationAddress } from '../../../src/product/notifications/addresses.ts';
import { callChannel, postChannel, tryChannel } from '../../support/channels.ts';
import { START, testContext } from '../../support/context.ts';
import { readQueuedTokens } from '../../support/mails.ts';
import { findCallerByToken, type Person, signUp } from '../../support/people.ts';
import { connectSecondProcess } from '../../support/webhooks.ts';

const test = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1000' } });
const { app, ctx, clock } = test;
const second = connectSecondProcess(t, test);
const MAILBOX = { kind: 'email', name: 'Desk', url: undefined, topic: undefined, address: 'Desk@Example.com' };
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(mails);
});

const patch = (person: Person, id: string, payload: object) => callChannel(app, person, 'PATCH', id, '', payload);
const readLinks = () => readQueuedTokens(ctx, 'desk@example.com');
const confirm = (token = '') =>
  app
    .inject({ method: 'POST', url: '/api/user/confirm-email', payload: { token } })
    .then(({ statusCode }) => statusCode);

t.test('An e-mail channel gets a link only, and is active once that is opened', async (t) => {
  const alice = await signUp(app);
  const channel = await postChannel(app, alice, MAILBOX);
  t.match(channel, {
    settings: { address: 'desk@example.com' },
    status: 'inactive',
    isActive: false,
    isConfirmed: false,
  });
  const [row] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, channel.id));
  const { unsubscribeToken } = JSON.parse(decryptSecret(ctx, channel.id, row?.secretEncrypted ?? ''));
  t.equal(row?.unsubscribeHash, hashLinkToken(unsubscribeToken));
  t.notMatch(JSON.stringify(channel), unsubscribeToken);

  const refused = await callChannel(app, alice, 'POST', channel.id, '/test');
  t.equal(refused.statusCode, 409);
  t.match(refused.json(), { error: /not confirmed/ });
  clock.advance(60_000);
  t.match((await patch(alice, channel.id, { isActive: true })).json(), {
    channel: { status: 'inactive', isConfirmed: false },
  });
  const [ended, link] = await readLinks();
  t.equal(await confirm(ended), 400);
  t.equal(await confirm(link), 200);
  t.match((await callChannel(app, alice, 'GET', channel.id)).json(), {
    channel: { status: 'active', isActive: true, isConfirmed: true },
  });
  t.equal(await ctx.db.$count(mails, eq(mails.recipient, 'desk@example.com')), 2);
});

t.test('Another channel of a confirmed address is active at once, and one of another account is not', async (t) => {
  const alice = await signUp(app);
  const bob = await signUp(app);
  await postChannel(app, alice, MAILBOX);
  await confirm((await readLinks())[0]);
  t.match(await postChannel(app, alice, MAILBOX), { isActive: true, isConfirmed: true });
  t.match(await postChannel(app, bob, MAILBOX), { isActive: false, isConfirmed: false });
});

t.test('Another address has to be confirmed, and the previous unsubscribe link ends', async (t) => {
  const alice = await signUp(app);
  const { id } = await postChannel(app, alice, MAILBOX);
  await confirm((await readLinks())[0]);
  const [before] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, id));
  const moved = (await patch(alice, id, { address: 'other@example.com' })).json().channel;
  t.match(moved, { settings: { address: 'other@example.com' }, isActive: false, isConfirmed: false });
  const [after] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, id));
  t.not(after?.unsubscribeHash, before?.unsubscribeHash);
  const back = (await patch(alice, id, { address: 'desk@example.com' })).json().channel;
  t.match(back, { isActive: true, isConfirmed: true });
  t.match((await patch(alice, id, { digest: 'daily' })).json().channel, {
    digest: 'daily',
    digestHour: 8,
    digestTimezone: 'UTC',
  });
  const named = await tryChannel(app, alice, { ...MAILBOX, topic: 'x' });
  t.match(named.json().details, { topic: ['is not a setting of email'] });
});

t.test('An address that is confirmed while its channel is created leaves no inactive channel', async (t) => {
  for (let round = 0; round < 5; round++) {
    const alice = await signUp(app);
    const caller = (await findCallerByToken(ctx, alice.token))!;
    await ctx.db.delete(mails);
    await postChannel(app, alice, MAILBOX);
    const [link = ''] = await readLinks();
    const input = { kind: 'email', name: 'Desk', address: 'desk@example.com' } as const;
    await Promise.all([
      createChannel(ctx, caller, input),
      confirmNotificationAddress(second, hashLinkToken(link)),
      createChannel(second, caller, input),
    ]);
    const rows = await ctx.db.select().from(endpoints).where(eq(endpoints.userId, alice.id));
    t.same(
      rows.map(({ status }) => status),
      ['active', 'active', 'active'],
    );
    t.match(await ctx.db.select().from(notificationAddresses).where(eq(notificationAddresses.userId, alice.id)), [
      { email: 'desk@example.com', confirmedAt: START },
    ]);
  }
});
