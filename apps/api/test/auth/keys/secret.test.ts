import { crc32 } from 'node:zlib';
import t from 'tap';
import { generateApiKey, hashApiKey, isWellFormedApiKey, toShownPrefix } from '../../../src/product/auth/tokens.ts';

t.test('A key is crl_ and 38 letters and digits, and no two are the same', async (t) => {
  const keys = Array.from({ length: 1000 }, generateApiKey);
  t.same(
    keys.filter((key) => !/^crl_[0-9A-Za-z]{38}$/.test(key) || !isWellFormedApiKey(key)),
    [],
  );
  t.equal(new Set(keys).size, keys.length);
  t.equal(new Set(keys.join('').replaceAll('crl_', '')).size, 62, 'all letters and digits occur');
});

t.test('The last 6 characters are the CRC-32 of the 32 before them in base 62', async (t) => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const toNumber = (text: string) => [...text].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
  for (let i = 0; i < 100; i++) {
    const key = generateApiKey();
    t.equal(toNumber(key.slice(-6)), crc32(key.slice(4, 36)));
  }
});

t.test('One wrong character, two exchanged ones and any other text are recognised as a typing error', async (t) => {
  const key = generateApiKey();
  for (let at = 4; at < key.length; at++) {
    const other = key[at] === 'x' ? 'y' : 'x';
    t.notOk(isWellFormedApiKey(key.slice(0, at) + other + key.slice(at + 1)), `character ${at}`);
    const next = key[at + 1] ?? '';
    if (next !== '' && next !== key[at])
      t.notOk(isWellFormedApiKey(key.slice(0, at) + next + key[at] + key.slice(at + 2)));
  }
  for (const text of ['', 'crl_', key.slice(0, -1), `${key}0`, key.toUpperCase(), `${key}\n`, ` ${key}`, key.slice(4)])
    t.notOk(isWellFormedApiKey(text), JSON.stringify(text));
});

t.test('The hash and the first 12 characters do not contain the secret', async (t) => {
  const key = generateApiKey();
  t.match(hashApiKey(key), /^[0-9a-f]{64}$/);
  t.equal(toShownPrefix(key), key.slice(0, 12));
});
