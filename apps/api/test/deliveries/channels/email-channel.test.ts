import { endpoints } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { decryptSecret } from '../../../src/product/deliveries/queue/secret.ts';
import { testContext } from '../../support/context.ts';
import { deliverDueMails } from '../../support/mails.ts';
import { signUpAlice } from '../../support/people.ts';
import { getResetToken, startMailServer } from '../../support/servers/mail-server.ts';

const server = await startMailServer(t);
const { app, ctx } = await testContext(t, { env: { SMTP_URL: server.url, MAIL_FROM: 'bells@example.com' } });
const alice = await signUpAlice(app);
const STRANGER = 'stranger@example.com';

const call = async (method: 'POST' | 'PATCH' | 'GET', url: string, payload?: object) =>
  app.inject({ method, url, headers: alice.headers, ...(payload && { payload }) });

async function openLastLink(): Promise<number> {
  await deliverDueMails(ctx);
  const mail = server.received.findLast(({ subject }) => subject === 'Confirm that you want this mail');
  if (!mail) throw new Error('There is no link.');
  const token = getResetToken(mail);
  return (await app.inject({ method: 'POST', url: '/api/user/confirm-email', payload: { token } })).statusCode;
}

t.test(
  'An address gets nothing but the link before that is opened, and a new one after it has unsubscribed',
  async (t) => {
    const created = await call('POST', '/api/channels', { kind: 'email', name: 'Team', address: STRANGER });
    t.match(created.json(), { channel: { isConfirmed: false, isActive: false, settings: { address: STRANGER } } });
    const url = `/api/channels/${created.json().channel.id}`;
    t.equal((await call('POST', `${url}/test`)).statusCode, 409);
    await deliverDueMails(ctx);
    t.equal((await call('POST', `${url}/test`)).statusCode, 409);
    t.same(
      server.received.map(({ subject }) => subject),
      ['Confirm that you want this mail'],
    );

    t.equal(await openLastLink(), 200);
    t.match((await call('GET', url)).json(), { channel: { isConfirmed: true, isActive: true } });
    const tested = await call('POST', `${url}/test`);
    t.match(tested.json(), {
      success: true,
      delivery: { event: 'test', statusCode: null, success: true, error: null },
    });
    const mail = server.received.at(-1);
    t.match(mail, { subject: 'It works', envelope: { to: [STRANGER] } });

    const [row] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, created.json().channel.id));
    const { unsubscribeToken } = JSON.parse(decryptSecret(ctx, row?.id ?? '', row?.secretEncrypted ?? ''));
    t.match(mail?.text, `/unsubscribe/${unsubscribeToken}`);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const link = `/unsubscribe/${unsubscribeToken}`;
    await app.inject({ method: 'POST', url: link, headers: form, payload: 'List-Unsubscribe=One-Click' });
    t.match((await call('GET', url)).json(), { channel: { isConfirmed: false, isActive: false } });

    const before = server.received.length;
    t.match((await call('PATCH', url, { isActive: true })).json(), {
      channel: { isConfirmed: false, isActive: false },
    });
    t.equal((await call('POST', `${url}/test`)).statusCode, 409);
    await deliverDueMails(ctx);
    t.same(
      server.received
        .slice(before)
        .filter(({ envelope }) => envelope.to.includes(STRANGER))
        .map(({ subject }) => subject),
      ['Confirm that you want this mail'],
    );
    t.equal(await openLastLink(), 200);
    t.match((await call('POST', `${url}/test`)).json(), { delivery: { success: true } });
    t.notMatch((await call('GET', '/api/channels')).body, unsubscribeToken);
  },
);
