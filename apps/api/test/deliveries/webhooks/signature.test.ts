import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import type { Context } from '../../../src/context.ts';
import { type EncryptionKey, parseEncryptionKeys } from '../../../src/lib/config/secrets.ts';
import { toBlindIndex } from '../../../src/lib/crypto/encryption.ts';
import {
  buildStandardHeaders,
  decryptSecret,
  encryptSecret,
  generateSecret,
  isPathSafe,
  isSigned,
  listBlindIndexes,
  signBody,
} from '../../../src/product/deliveries/queue/secret.ts';
import { computeSignature } from '../../support/webhooks.ts';

const body = '{"event":"test","data":{"message":"Grüße, 世界 🔔"}}';
const withKeys = (encryptionKeys: EncryptionKey[]) => ({ config: { encryptionKeys } }) as unknown as Context;

t.test('A generated secret has 32 characters that both base64 alphabets share, of at least 190 bits', async (t) => {
  const made = Array.from({ length: 2000 }, generateSecret);
  t.equal(new Set(made).size, 2000);
  for (const secret of made) if (!/^whsec_[A-Za-z0-9]{32}$/.test(secret)) t.fail(secret);
  t.equal(new Set(made.map((secret) => secret.slice(6)).join('')).size, 62, 'every letter and digit occurs');
  t.ok(made.every(isPathSafe));
});

t.test('X-Webhook-Signature is the HMAC-SHA256 of the raw body in lower-case hex', async (t) => {
  // openssl dgst -sha256 -hmac secret
  t.equal(signBody('secret', 'body'), 'sha256=dc46983557fea127b43af721467eb9b3fde2338fe3e14f51952aa8478c13d355');
  const secret = generateSecret();
  t.equal(signBody(secret, body), computeSignature(secret, Buffer.from(body)));
  t.match(signBody(secret, body), /^sha256=[0-9a-f]{64}$/);
});

t.test('A signature is accepted only unchanged', async (t) => {
  const secret = generateSecret();
  const bytes = Buffer.from(body);
  const good = signBody(secret, bytes);
  t.ok(isSigned(secret, bytes, good));
  t.ok(isSigned(secret, Buffer.alloc(0), signBody(secret, '')));
  const bad = [
    ...[undefined, null, '', [good], good.slice(7), good.slice(0, -1), `${good}0`, `${good},${good}`, ` ${good}`],
    ...[
      good.toUpperCase(),
      good.replace('sha256', 'sha1'),
      signBody(generateSecret(), bytes),
      signBody(secret, `${body} `),
    ],
  ];
  for (const signature of bad) t.notOk(isSigned(secret, bytes, signature), String(signature));
});

t.test('The Standard Webhooks library verifies the headers', async (t) => {
  const at = new Date();
  for (let n = 0; n < 200; n++) {
    const [secret, before] = [generateSecret(), generateSecret()];
    const id = `delivery-${n}`;
    for (const secrets of [[secret], [secret, before], [before, secret]]) {
      const headers = buildStandardHeaders(secrets, { id, at, body });
      t.same(new Webhook(secret).verify(body, headers), JSON.parse(body));
      t.equal(headers['webhook-signature']?.split(' ').length, secrets.length);
    }
    const headers = buildStandardHeaders([before], { id, at, body });
    t.throws(() => new Webhook(secret).verify(body, headers), /No matching signature/);
  }
});

t.test('A changed or replayed delivery fails verification', async (t) => {
  const secret = generateSecret();
  const verify = (at: Date, changes: Record<string, string> = {}, text = body) =>
    new Webhook(secret).verify(text, { ...buildStandardHeaders([secret], { id: 'a', at, body }), ...changes });
  const now = new Date();
  t.ok(verify(now));
  t.throws(() => verify(now, { 'webhook-id': 'b' }));
  t.throws(() => verify(now, { 'webhook-timestamp': String(Math.floor(now.getTime() / 1000) - 1) }));
  t.throws(() => verify(now, {}, `${body} `));
  t.throws(() => verify(new Date(now.getTime() - 301_000)), /too old/);
});

t.test('A secret is found under each encryption key, by a keyed index', async (t) => {
  const [a, b] = parseEncryptionKeys(
    `a:${randomBytes(32).toString('base64')},b:${randomBytes(32).toString('base64')}`,
  ) as [EncryptionKey, EncryptionKey];
  const secret = generateSecret();
  const before = encryptSecret(withKeys([a]), 'id', secret);
  const rotated = withKeys([b, a]);
  t.ok(
    listBlindIndexes(rotated, 7, secret).includes(before.secretLookup),
    'it is still found while the old key is listed',
  );
  t.equal(decryptSecret(rotated, 'id', before.secretEncrypted), secret);
  const after = encryptSecret(rotated, 'id', secret);
  t.equal(after.secretLookup, toBlindIndex(b, secret));
  t.not(after.secretLookup, before.secretLookup);
  t.same(
    listBlindIndexes(withKeys([b]), 7, secret),
    [after.secretLookup, `7:${after.secretLookup}`],
    'encrypted again, it no longer needs the old key',
  );
  t.throws(() => decryptSecret(rotated, 'other', after.secretEncrypted), /another row/);
});
