import { randomBytes } from 'node:crypto';
import t from 'tap';
import { ConfigError, loadConfig } from '../../src/lib/config/config.ts';
import { PRODUCTION_ENV } from '../support/production.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const RANDOM = 'set it to random bytes (openssl rand -base64 32).';
const without = (...names: string[]) => Object.fromEntries(names.map((name) => [name, '']));

/** Settings that production rejects, with the line that it prints. */
const REFUSED: [what: string, env: Record<string, string>, line: string | RegExp][] = [
  [
    'no secrets',
    without('JWT_SECRET', 'ENCRYPTION_KEY', 'CRON_SECRET', 'ADMIN_KEY'),
    'Production needs JWT_SECRET, ENCRYPTION_KEY, CRON_SECRET, ADMIN_KEY: set each to a secret of at least 32 bytes.',
  ],
  [
    'one secret missing',
    without('ADMIN_KEY'),
    'Production needs ADMIN_KEY: set each to a secret of at least 32 bytes.',
  ],
  [
    '31 bytes',
    {
      JWT_SECRET: randomBytes(31)
        .toString('latin1')
        .replaceAll(/[^!-~]/g, 'q'),
    },
    'JWT_SECRET is shorter than the 32 bytes that production needs.',
  ],
  ['one character', { CRON_SECRET: 'x'.repeat(44) }, `CRON_SECRET has too few different characters: ${RANDOM}`],
  [
    'few characters',
    { CRON_SECRET: 'aabbccddeeffggaabbccddeeffggaabbccdd' },
    `CRON_SECRET has too few different characters: ${RANDOM}`,
  ],
  ['a piece over and over', { ADMIN_KEY: 'k8Jq2!zLw0'.repeat(4) }, `ADMIN_KEY repeats itself: ${RANDOM}`],
  [
    'a piece over and over, cut off',
    { ADMIN_KEY: 'k8Jq2!zLw0pR'.repeat(4).slice(0, 40) },
    `ADMIN_KEY repeats itself: ${RANDOM}`,
  ],
  ['the alphabet', { JWT_SECRET: 'abcdefghijklmnopqrstuvwxyz0123456789' }, `JWT_SECRET is a sequence: ${RANDOM}`],
  ['counting down', { JWT_SECRET: 'zyxwvutsrqponmlkjihgfedcba9876543210' }, `JWT_SECRET is a sequence: ${RANDOM}`],
  [
    'changeme',
    { JWT_SECRET: 'changeme-8Jq2!zLw0pR7vT4nY6bM1cX9sD3f' },
    `JWT_SECRET looks like a placeholder: ${RANDOM}`,
  ],
  [
    'CHANGE_ME',
    { CRON_SECRET: 'CHANGE_ME_8Jq2!zLw0pR7vT4nY6bM1cX9sD3f' },
    `CRON_SECRET looks like a placeholder: ${RANDOM}`,
  ],
  [
    'your secret here',
    { ADMIN_KEY: 'your-secret-here-please-your-secret-1' },
    `ADMIN_KEY looks like a placeholder: ${RANDOM}`,
  ],
  [
    'a key of zeros',
    { ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') },
    `ENCRYPTION_KEY has too few different characters: ${RANDOM}`,
  ],
  [
    'a key that is a text',
    { ENCRYPTION_KEY: base64('this-is-an-example-key-32-bytes!') },
    `ENCRYPTION_KEY looks like a placeholder: ${RANDOM}`,
  ],
  [
    'an old key that is weak',
    { ENCRYPTION_KEY: `new:${PRODUCTION_ENV.ENCRYPTION_KEY},old:${Buffer.alloc(32, 7).toString('base64')}` },
    `ENCRYPTION_KEY has too few different characters: ${RANDOM}`,
  ],
  [
    'a key of 31 bytes',
    { ENCRYPTION_KEY: randomBytes(31).toString('base64') },
    'ENCRYPTION_KEY takes base64 of 32 bytes, or several as id:base64,id:base64.',
  ],
  [
    'a key that is not base64',
    { ENCRYPTION_KEY: `${PRODUCTION_ENV.ENCRYPTION_KEY} !` },
    'ENCRYPTION_KEY takes base64 of 32 bytes, or several as id:base64,id:base64.',
  ],
  [
    'two keys of one name',
    { ENCRYPTION_KEY: `a:${PRODUCTION_ENV.ENCRYPTION_KEY},a:${PRODUCTION_ENV.JWT_SECRET}` },
    'ENCRYPTION_KEY lists two keys with the id "a": give each one of its own.',
  ],
  [
    'two secrets alike',
    { CRON_SECRET: PRODUCTION_ENV.JWT_SECRET },
    'CRON_SECRET is the same as JWT_SECRET. Set each to a different secret (openssl rand -base64 32).',
  ],
  [
    'the encryption key as a secret',
    { ADMIN_KEY: PRODUCTION_ENV.ENCRYPTION_KEY },
    'ADMIN_KEY is the same as ENCRYPTION_KEY. Set each to a different secret (openssl rand -base64 32).',
  ],
  [
    'no AI provider',
    without('AI_BASE_URL'),
    'Production needs AI_BASE_URL: the URL of a provider, or "offline" for the built-in model.',
  ],
  [
    'no mail server',
    without('SMTP_URL'),
    'Production needs SMTP_URL: the URL of a mail server, such as smtps://user:password@host.',
  ],
  ['no storage', without('STORAGE_DRIVER'), 'Production needs STORAGE_DRIVER: disk, for files in DATA_DIR, or s3.'],
  [
    'the storage of development',
    { STORAGE_DRIVER: 'base64' },
    'Production needs STORAGE_DRIVER: disk, for files in DATA_DIR, or s3.',
  ],
  [
    'half an object storage',
    { STORAGE_DRIVER: 's3', S3_BUCKET: 'files' },
    'STORAGE_DRIVER is "s3", which needs S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY.',
  ],
  ['a cookie without Secure', { COOKIE_SECURE: 'false' }, 'COOKIE_SECURE can only be false in development.'],
  [
    'plain http',
    { BASE_URL: 'http://api.example.com' },
    /^BASE_URL is "http:\/\/api\.example\.com", but production needs an https URL .* Set it to .*\.$/,
  ],
  [
    'plain http in mails',
    { APP_URL: 'http://192.168.1.5' },
    /^APP_URL is "http:\/\/192\.168\.1\.5", but production needs an https URL/,
  ],
  [
    'a proxy by number',
    { TRUST_PROXY: '1' },
    /^TRUST_PROXY is "1", but takes false or a comma-separated list of proxy addresses/,
  ],
];

for (const [what, env, line] of REFUSED) {
  t.test(`Production does not start with ${what} and says in one line what to set`, async (t) => {
    let message = '';
    t.throws(() => {
      try {
        loadConfig({ ...PRODUCTION_ENV, ...env });
      } catch (error) {
        t.ok(error instanceof ConfigError);
        message = (error as Error).message;
        throw error;
      }
    });
    t.match(message, line);
    if (typeof line === 'string') t.equal(message, line);
    t.notMatch(message, '\n');
    for (const [name, value] of Object.entries(env)) {
      if (/SECRET|KEY/.test(name) && value) t.notOk(message.includes(value), 'the secret is not printed');
    }
  });
}

t.test('Production starts with random secrets in any encoding', async (t) => {
  t.ok(loadConfig(PRODUCTION_ENV).production);
  for (let round = 0; round < 500; round++) {
    const [a, b, c, d] = Array.from({ length: 4 }, () => randomBytes(32)) as [Buffer, Buffer, Buffer, Buffer];
    const secrets = {
      JWT_SECRET: a.toString('hex'),
      CRON_SECRET: b.toString('base64url'),
      ADMIN_KEY: c.toString('base64'),
      ENCRYPTION_KEY: d.toString(round % 2 ? 'base64' : 'base64url'),
    };
    loadConfig({ ...PRODUCTION_ENV, ...secrets });
  }
  t.ok(
    loadConfig({
      ...PRODUCTION_ENV,
      ENCRYPTION_KEY: `b:${randomBytes(32).toString('base64')}, a:${PRODUCTION_ENV.ENCRYPTION_KEY}`,
    }),
  );
});

t.test('Production accepts https URLs, and http on its own machine', async (t) => {
  for (const url of [
    'https://api.example.com',
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
    'http://carillon.localhost',
  ]) {
    t.equal(loadConfig({ ...PRODUCTION_ENV, BASE_URL: url, APP_URL: url }).baseUrl, url);
  }
});
