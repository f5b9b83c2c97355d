import { randomBytes } from 'node:crypto';
import t from 'tap';
import { decrypt, encrypt } from '../../src/crypto/encryption.ts';

const key = (id: string) => ({ id, key: randomBytes(32) });
const PLACE = 'users.provider_key_sealed:42';
const SECRET = 'sk-or-ключ-🔑';

t.test('what is sealed opens again, in its own place', async (t) => {
  const keys = [key('1')];
  for (const text of [SECRET, '', 'x'.repeat(100_000)]) t.equal(decrypt(keys, encrypt(keys, text, PLACE), PLACE), text);
});

t.test('a sealed value shows its version and key, and nothing of the secret', async (t) => {
  const keys = [key('2026')];
  const sealed = encrypt(keys, SECRET, PLACE);
  t.match(sealed, /^v1\.2026\.[A-Za-z0-9_-]+$/);
  t.notMatch(Buffer.from(sealed.slice(8), 'base64url').toString('latin1'), 'sk-or');
  t.not(sealed, encrypt(keys, SECRET, PLACE), 'the same secret never looks the same');
});

t.test('a value that was changed in any byte does not open', async (t) => {
  const keys = [key('1')];
  const [version, id, encoded] = encrypt(keys, SECRET, PLACE).split('.') as [string, string, string];
  const bytes = Buffer.from(encoded, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const forged = Buffer.from(bytes);
    forged[at]! ^= 1;
    t.throws(() => decrypt(keys, `${version}.${id}.${forged.toString('base64url')}`, PLACE), `byte ${at}`);
  }
  for (const length of [0, 1, 12, 27, bytes.length - 1]) {
    const cut = bytes.subarray(0, length).toString('base64url');
    t.throws(() => decrypt(keys, `${version}.${id}.${cut}`, PLACE), `cut to ${length} bytes`);
  }
});

t.test('a value does not open in another row or column', async (t) => {
  const keys = [key('1')];
  const sealed = encrypt(keys, SECRET, PLACE);
  for (const place of ['users.provider_key_sealed:43', 'webhooks.secret_sealed:42', '', `${PLACE} `]) {
    t.throws(() => decrypt(keys, sealed, place), /was changed, or sealed for another place/);
  }
});

t.test('the first key writes, every listed key reads, a retired one does not', async (t) => {
  const old = key('old');
  const fresh = key('new');
  const sealed = encrypt([old], SECRET, PLACE);
  t.equal(decrypt([fresh, old], sealed, PLACE), SECRET);
  t.match(encrypt([fresh, old], SECRET, PLACE), /^v1\.new\./);
  t.throws(() => decrypt([fresh], sealed, PLACE), /key "old", which ENCRYPTION_KEY does not list/);
  t.throws(() => decrypt([{ ...fresh, id: 'old' }], sealed, PLACE), /was changed/);
});

t.test('an error never repeats what it was given', async (t) => {
  const keys = [key('1')];
  for (const given of [SECRET, 'sk-plain', '', 'v1.sk-plain', 'v2.1.AAAA', 'v1.1.not base64', 'v1..AAAA']) {
    t.throws(() => decrypt(keys, given, PLACE), new Error(`${PLACE} does not hold a sealed value.`));
  }
  t.throws(() => encrypt([], SECRET, PLACE), { message: 'There is no key to seal with.' });
});
