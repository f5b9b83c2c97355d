import { randomBytes } from 'node:crypto';
import { endpoints, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import type { Caller, Context } from '../../../src/context.ts';
import type { EncryptionKey } from '../../../src/lib/config/secrets.ts';
import { rotateKeys } from '../../../src/lib/crypto/rotate-keys.ts';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { buildStandardHeaders, decryptSecret } from '../../../src/product/deliveries/queue/secret.ts';
import { createWebhook } from '../../../src/product/deliveries/webhooks/write.ts';
import { getInbound } from '../../../src/product/executions/inbound.ts';
import { testContext } from '../../support/context.ts';
import { signUpAlice, signUpBob } from '../../support/people.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import {
  callWebhook,
  computeSignature,
  inboundPath,
  postWebhook,
  recordManyEvents,
  sendInbound,
  tryWebhook,
} from '../../support/webhooks.ts';

const { app, ctx, clock, logged } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
await ctx.db.update(users).set({ plan: 'pro' });
t.beforeEach(async () => {
  await ctx.db.delete(endpoints);
});

const LONG = 'my-own_secret.of~thirty-two-letters';
const trySecret = async (secret: string, person = alice) => (await tryWebhook(app, person, { secret })).statusCode;
const callInbound = async (webhook: { userId: number; secret: string }) =>
  (await app.inject({ url: inboundPath({ ...webhook, secret: encodeURIComponent(webhook.secret) }) })).statusCode;

t.test('A chosen secret is shown once, stored encrypted, and never logged', async (t) => {
  const webhook = await postWebhook(app, alice, { secret: LONG });
  t.equal(webhook.secret, LONG);
  t.notMatch((await callWebhook(app, alice, 'GET', webhook.id)).body, LONG);
  const rows = await ctx.db.select().from(endpoints);
  for (const text of [JSON.stringify(rows), JSON.stringify(logged)]) t.notOk(text.includes(LONG));
});

t.test('A chosen secret has 16 to 128 printable ASCII characters, and base64 after whsec_', async (t) => {
  const good = [
    ...['x'.repeat(16), 'y'.repeat(128), '!"#$%&()*+,-./:;<=>?@[]^_`{|}~', 'whsec'.repeat(4), 'Whsec_not-in-base-64'],
    ...['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', `whsec_${randomBytes(16).toString('base64')}`],
  ];
  for (const secret of good) {
    t.equal(await trySecret(secret), 201, secret);
    await ctx.db.delete(endpoints);
  }
  const bad = [
    ...['x'.repeat(15), 'y'.repeat(129), 'a secret with spaces', 'ein-geheimes-wört', 'tab\tin-this-secret', ''],
    ...[
      'whsec_-_-_-_-_-_-_-_-_',
      'whsec_not base 64',
      'whsec_abcdefghijk',
      'whsec_abcdefghij===',
      'whsec_abcde=fghijk',
    ],
  ];
  for (const secret of bad) {
    const answer = await tryWebhook(app, alice, { secret });
    t.equal(answer.statusCode, 400, secret);
    t.same(Object.keys(answer.json().details), ['secret']);
  }
  for (const secret of [null, 7, {}]) t.equal((await tryWebhook(app, alice, { secret })).statusCode, 400);
});

t.test('A chosen secret signs deliveries for both kinds of receivers', async (t) => {
  const receiver = await startReceiver(t);
  clock.set(new Date());
  for (const secret of [
    LONG,
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'sixteen+letters/',
    'with spaces? no!'.replaceAll(' ', '_'),
  ]) {
    await postWebhook(app, alice, { secret, url: receiver.url });
    await recordManyEvents(ctx, alice.id, 1);
    await createDeliverer(ctx).drain();
    const [{ body, headers }] = receiver.received.splice(0) as [(typeof receiver.received)[0]];
    t.equal(
      headers['x-webhook-signature'],
      computeSignature(secret, body),
      'the text keys the signature of the specification',
    );
    const verifier = secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(secret, { format: 'raw' });
    t.ok(verifier.verify(body, headers as Record<string, string>));
    await ctx.db.delete(endpoints);
  }
});

t.test('The Standard Webhooks library verifies with any chosen secret, in either format', async (t) => {
  const alphabets = [
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=',
    Array.from({ length: 94 }, (_, n) => String.fromCharCode(0x21 + n)).join(''),
  ];
  const body = '{"event":"test"}';
  let decoded = 0;
  for (let n = 0; n < 3000; n++) {
    const alphabet = alphabets[n % 3] as string;
    const length = 16 + (n % 113);
    const text = Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('');
    const secret = n % 5 === 0 ? `${text.replaceAll('=', 'x')}${'='.repeat(n % 4)}` : text;
    const headers = buildStandardHeaders([secret], { id: 'a', at: new Date(), body });
    if (!new Webhook(secret, { format: 'raw' }).verify(body, headers)) t.fail(secret);
    const strict = readAsBase64(secret);
    if (strict === null) continue;
    decoded += 1;
    if (!strict.verify(body, headers)) t.fail(secret);
  }
  t.ok(decoded > 500, `${decoded} of them are base64 to it`);
});

/** The key that the library derives from a secret, or null. It accepts a wrong character in one position. */
function readAsBase64(secret: string): Webhook | null {
  if (/[^A-Za-z0-9+/=]/.test(secret)) return null;
  try {
    return new Webhook(secret);
  } catch {
    return null;
  }
}

t.test('A chosen secret has an inbound address if it is path-safe and long enough', async (t) => {
  for (const secret of [LONG, 'q'.repeat(100), 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']) {
    const webhook = await postWebhook(app, alice, { secret });
    t.equal(await callInbound(webhook), 200, secret);
    t.equal((await sendInbound(app, webhook, {})).statusCode, 200);
    t.equal(await callInbound({ ...webhook, userId: bob.id }), 404, 'under its own user only');
  }
  const closed = ['z'.repeat(31), 'q'.repeat(101), 'base64+has/letters=that/are+no/part=of+paths', '?#%'.repeat(12)];
  for (const secret of closed) {
    const webhook = await postWebhook(app, alice, { secret });
    t.equal(await callInbound(webhook), 404, secret);
    t.equal(
      (await sendInbound(app, webhook, {}, { path: `/api/webhooks/${alice.id}/${encodeURIComponent(secret)}` }))
        .statusCode,
      404,
    );
  }
});

t.test('Two users may choose the same secret, and neither learns it', async (t) => {
  const mine = await postWebhook(app, alice, { secret: LONG });
  const his = await postWebhook(app, bob, { secret: LONG });
  t.equal(await trySecret(mine.secret, bob), 409, 'his own, regardless of what Alice has chosen');
  for (const webhook of [mine, his]) {
    const shown = await app.inject({ url: inboundPath(webhook) });
    t.match(shown.json(), { webhookId: webhook.id, userId: String(webhook.userId) });
  }
  const generated = await postWebhook(app, bob);
  t.equal(await trySecret(generated.secret), 201, 'even a generated one');
  for (const person of [alice, bob]) t.equal(await trySecret('weak-and-wide-spread', person), 201);
});

t.test('Two webhooks of one user may share a secret only if it has no inbound address', async (t) => {
  const { secret } = await postWebhook(app, alice);
  for (const taken of [LONG, LONG, secret]) await tryWebhook(app, alice, { secret: taken });
  t.equal(await ctx.db.$count(endpoints), 2);
  const answer = await tryWebhook(app, alice, { secret: LONG });
  t.equal(answer.statusCode, 409);
  t.match(answer.json(), { success: false, error: /inbound/ });
  for (let n = 0; n < 2; n++) t.equal(await trySecret('short-but-shared'), 201);
});

t.test('Only one of concurrent creations with one secret succeeds', async (t) => {
  const statuses = await Promise.all(Array.from({ length: 5 }, () => trySecret(LONG)));
  t.same(statuses.sort(), [201, 409, 409, 409, 409]);
});

t.test('A chosen secret survives a rotation of the encryption keys', async (t) => {
  const chosen = await postWebhook(app, alice, { secret: LONG });
  const weak = await postWebhook(app, alice, { secret: 'short-but-shared' });
  const made = await postWebhook(app, alice);
  const [old] = ctx.config.encryptionKeys as [EncryptionKey];
  const fresh = { id: 'new', key: randomBytes(32) };
  const under = (...encryptionKeys: EncryptionKey[]) => ({ ...ctx, config: { ...ctx.config, encryptionKeys } });
  const found = async (own: Context, { secret }: { secret: string }) =>
    (await getInbound(own, { userId: String(alice.id), secret })).id;
  for (const webhook of [chosen, made]) t.equal(await found(under(fresh, old), webhook), webhook.id);
  const again = createWebhook(under(fresh, old), { id: alice.id } as Caller, { ...chosen, description: null });
  await t.rejects(again, /inbound URLs/, 'under another key the index would not know it');

  for await (const { failures } of rotateKeys(ctx.db, [fresh, old])) t.same(failures, []);
  for (const webhook of [chosen, made]) t.equal(await found(under(fresh), webhook), webhook.id);
  const [row] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, weak.id));
  t.equal(decryptSecret(under(fresh), weak.id, row?.secretEncrypted ?? ''), weak.secret);
  t.equal(row?.secretLookup, `none:${weak.id}`);
});

t.test('A rotation replaces a chosen secret with a generated one, and both sign for a day', async (t) => {
  const receiver = await startReceiver(t);
  clock.set(new Date());
  const webhook = await postWebhook(app, alice, { secret: 'short-but-shared', url: receiver.url });
  const { secret } = (await callWebhook(app, alice, 'POST', webhook.id, '/rotate-secret')).json().webhook;
  t.match(secret, /^whsec_[A-Za-z0-9]{32}$/);
  t.equal(await callInbound({ ...webhook, secret }), 200);
  await recordManyEvents(ctx, alice.id, 1);
  await createDeliverer(ctx).drain();
  const [{ body, headers }] = receiver.received as [(typeof receiver.received)[0]];
  for (const verifier of [new Webhook(secret), new Webhook(webhook.secret, { format: 'raw' })]) {
    t.ok(verifier.verify(body, headers as Record<string, string>));
  }
  const [row] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, webhook.id));
  t.match(row?.secretLookup, /^[0-9a-f]{64}$/);
});
