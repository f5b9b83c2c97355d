import { randomBytes } from 'node:crypto';
import t from 'tap';
import { decrypt, encrypt } from '../../src/lib/crypto/encryption.ts';

const key = (id: string) => ({ id, key: randomBytes(32) });
const AAD = 'users.provider_key_encrypted:42';
const SECRET = 'sk-or-ключ-🔑';

t.test('An encrypted value is decrypted with the same aad', async (t) => {
  const keys = [key('1')];
  for (const text of [SECRET, '', 'x'.repeat(100_000)]) t.equal(decrypt(keys, encrypt(keys, text, AAD), AAD), text);
});

t.test('An encrypted value shows its version and key id, and nothing of the secret', async (t) => {
  const keys = [key('2026')];
  const ciphertext = encrypt(keys, SECRET, AAD);
  t.match(ciphertext, /^v1\.2026\.[A-Za-z0-9_-]+$/);
  t.notMatch(Buffer.from(ciphertext.slice(8), 'base64url').toString('latin1'), 'sk-or');
  t.not(ciphertext, encrypt(keys, SECRET, AAD), 'the same secret has another ciphertext each time');
});

t.test('A value that was changed in any byte is not decrypted', async (t) => {
  const keys = [key('1')];
  const [version, id, encoded] = encrypt(keys, SECRET, AAD).split('.') as [string, string, string];
  const bytes = Buffer.from(encoded, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const forged = Buffer.from(bytes);
    forged[at]! ^= 1;
    t.throws(() => decrypt(keys, `${version}.${id}.${forged.toString('base64url')}`, AAD), `byte ${at}`);
  }
  for (const length of [0, 1, 12, 27, bytes.length - 1]) {
    const cut = bytes.subarray(0, length).toString('base64url');
    t.throws(() => decrypt(keys, `${version}.${id}.${cut}`, AAD), `cut to ${length} bytes`);
  }
});

t.test('A value is not decrypted in another row or column', async (t) => {
  const keys = [key('1')];
  const ciphertext = encrypt(keys, SECRET, AAD);
  for (const aad of ['users.provider_key_sealed:43', 'webhooks.secret_sealed:42', '', `${AAD} `]) {
    t.throws(() => decrypt(keys, ciphertext, aad), /was changed, or encrypted for another row or column/);
  }
});

t.test('The first key encrypts, every listed key decrypts, a removed one does not', async (t) => {
  const old = key('old');
  const fresh = key('new');
  const ciphertext = encrypt([old], SECRET, AAD);
  t.equal(decrypt([fresh, old], ciphertext, AAD), SECRET);
  t.match(encrypt([fresh, old], SECRET, AAD), /^v1\.new\./);
  t.throws(() => decrypt([fresh], ciphertext, AAD), /key "old", which ENCRYPTION_KEY does not list/);
  t.throws(() => decrypt([{ ...fresh, id: 'old' }], ciphertext, AAD), /was changed/);
});

t.test('An error never contains the value', async (t) => {
  const keys = [key('1')];
  for (const value of [SECRET, 'sk-plain', '', 'v1.sk-plain', 'v2.1.AAAA', 'v1.1.not base64', 'v1..AAAA']) {
    t.throws(() => decrypt(keys, value, AAD), new Error(`${AAD} does not hold an encrypted value.`));
  }
  t.throws(() => encrypt([], SECRET, AAD), { message: 'There is no key to encrypt with.' });
});
