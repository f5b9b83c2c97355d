import t from 'tap';
import {
  addressKey,
  emailKey,
  fieldKey,
  getClientNetwork,
  PUBLIC_ENDPOINTS,
  userKey,
} from '../../src/platform/limits/rates.ts';
import { getRateLimit } from '../support/rate-limits.ts';

const LOGIN = getRateLimit('POST /api/auth/login');
const RESET = getRateLimit('POST /api/auth/reset-password');

t.test('An IPv6 client is its /64, in every spelling', async (t) => {
  const same = [
    '2001:db8:1:2::1',
    '2001:db8:1:2:ffff:ffff:ffff:ffff',
    '2001:0DB8:0001:0002:0:0:0:9',
    '2001:db8:1:2::192.0.2.1',
    '[2001:db8:1:2::1]',
    '[2001:db8:1:2::1]:443',
    '2001:db8:1:2::1%eth0',
  ];
  for (const address of same) t.equal(getClientNetwork(address), '2001:db8:1:2::/64', address);
  t.equal(getClientNetwork('2001:db8:1:3::1'), '2001:db8:1:3::/64', 'the next network is another client');
  t.equal(getClientNetwork('2001:db8::1'), '2001:db8:0:0::/64');
  t.equal(getClientNetwork('2001::3:0:0:1'), '2001:0:0:0::/64');
  t.equal(getClientNetwork('1:2:3:4:5:6:7:8'), '1:2:3:4::/64');
  t.equal(getClientNetwork('::1'), '0:0:0:0::/64');
  t.equal(getClientNetwork('::'), '0:0:0:0::/64');
  t.equal(getClientNetwork('fe80::1%en0'), 'fe80:0:0:0::/64');
});

t.test('An IPv4 client is its address, also as IPv6', async (t) => {
  for (const address of [
    '192.0.2.7',
    '::ffff:192.0.2.7',
    '::FFFF:C000:207',
    '0:0:0:0:0:ffff:c000:0207',
    '192.0.2.7:8080',
  ]) {
    t.equal(getClientNetwork(address), '192.0.2.7', address);
  }
  t.equal(getClientNetwork('::ffff:255.255.0.1'), '255.255.0.1');
  t.not(getClientNetwork('192.0.2.7'), getClientNetwork('192.0.2.8'));
});

t.test('Texts that are not an address are one client', async (t) => {
  for (const address of [
    '',
    'unknown',
    '192.0.2',
    '192.0.2.256',
    'x'.repeat(10_000),
    '1.2.3.4, 5.6.7.8',
    '::g',
    '[::1',
    '\n',
  ]) {
    t.equal(getClientNetwork(address), 'unknown', address.slice(0, 20));
  }
});

t.test('All spellings of an e-mail address share a counter', async (t) => {
  const keyOf = (email: unknown) => fieldKey(LOGIN, '192.0.2.7', { email });
  const key = keyOf('alice@example.com');
  const same = [
    'ALICE@example.com',
    ' alice@example.com ',
    '\talice@EXAMPLE.COM\n',
    '\u00a0alice@example.com\u3000',
    'ａｌｉｃｅ@example.com',
    'ＡＬＩＣＥ＠ｅｘａｍｐｌｅ．ｃｏｍ',
  ];
  for (const email of same) t.equal(keyOf(email), key, email);
  t.equal(keyOf('ren\u00e9@example.com'), keyOf('RENE\u0301@example.com'));
  t.not(keyOf('alice@example.org'), key);
  t.not(fieldKey(LOGIN, '192.0.2.8', { email: 'alice@example.com' }), key, 'another address is another client');
  t.not(fieldKey(getRateLimit('POST /api/auth/forgot-password'), '192.0.2.7', { email: 'alice@example.com' }), key);
  t.equal(emailKey(LOGIN, 'ALICE@example.com'), emailKey(LOGIN, ' alice@example.com'));
});

t.test('Bodies without a usable field share a counter', async (t) => {
  const key = addressKey(LOGIN, '192.0.2.7');
  const odd = [
    undefined,
    null,
    7,
    'text',
    [],
    [{ email: 'a@b.de' }],
    {},
    { email: null },
    { email: 7 },
    { email: ['a@b.de'] },
  ];
  for (const body of [...odd, { email: { toString: 1 } }, { token: 'x' }]) {
    t.equal(fieldKey(LOGIN, '192.0.2.7', body), key, JSON.stringify(body));
  }
  t.not(fieldKey(LOGIN, '192.0.2.7', { email: '' }), key, 'an empty text is one');
});

t.test('A token counts as it is, and neither it nor an e-mail address is in a key', async (t) => {
  const keyOf = (token: string) => fieldKey(RESET, '192.0.2.7', { token });
  t.not(keyOf('abc'), keyOf('ABC'));
  t.not(keyOf('abc'), keyOf(' abc'));
  t.notMatch(keyOf('a'.repeat(64)), 'aaaa');
  t.notMatch(fieldKey(LOGIN, '192.0.2.7', { email: 'alice@example.com' }), /alice|example/);
});

t.test('Keys are short for every input', async (t) => {
  const long = 'ﷺ'.repeat(300_000);
  const keys = [
    fieldKey(LOGIN, '2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff', { email: long }),
    fieldKey(RESET, 'x'.repeat(10_000), { token: long }),
    addressKey(PUBLIC_ENDPOINTS, 'x'.repeat(10_000)),
    userKey(getRateLimit('POST /api/integrations/*/validate'), 2_147_483_647),
  ];
  for (const key of keys) t.ok(key.length < 120, `${key.length} ${key}`);
  const began = performance.now();
  for (let i = 0; i < 10; i++) fieldKey(LOGIN, '192.0.2.7', { email: long });
  t.ok(performance.now() - began < 300, 'nor takes long to make');
});

t.test('Texts that are not valid Unicode have a key', async (t) => {
  for (const email of ['\ud800', 'a\0b', '\udfff@x.de']) t.type(fieldKey(LOGIN, '192.0.2.7', { email }), 'string');
});
