import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encrypt } from '@carillon/api/crypto/encryption';
import { tasks, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { emptyDatabase } from '../../../../packages/db/test/empty-database.ts';
import { type ExamineOptions, examine } from '../../src/carillon/doctor/examine.ts';
import { healthyInstallation } from './installation.ts';
import { runCarillon } from './run-carillon.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'carillon-doctor-'));
t.teardown(() => rmSync(DATA_DIR, { recursive: true, force: true }));
const { env, db, ai, mailPort, answerHealth } = await healthyInstallation(t, DATA_DIR);
const [bob] = await db
  .insert(users)
  .values({ identityUserId: 'local:b', email: 'bob@example.com', name: 'Bob' })
  .returning();
const userId = bob?.id ?? 0;
/** Where nobody listens. */
const NOWHERE = '127.0.0.1:9';
/** Takes connections and says nothing. */
const mute = createServer(() => {}).listen(0, '127.0.0.1');
await new Promise<void>((resolve) => mute.once('listening', resolve));
t.teardown(() => mute.close());
const MUTE = `127.0.0.1:${(mute.address() as AddressInfo).port}`;

type Wrong = Record<string, string | undefined>;

/** What is not ok, as `level check: message`. */
async function complaints(wrong: Wrong = {}, options: ExamineOptions = {}) {
  const findings = await examine({ ...env, ...wrong }, { cwd: DATA_DIR, ...options });
  for (const { level, mend } of findings) if (level !== 'ok' && !mend) throw new Error('Nobody is told what to mend.');
  return findings
    .filter(({ level }) => level !== 'ok')
    .map(({ level, check, message }) => `${level} ${check}: ${message}`);
}

t.test('an installation that is well is told as such', async (t) => {
  t.strictSame(await complaints(), []);
});

const at = (url: string | undefined, change: Partial<URL>) => Object.assign(new URL(url ?? ''), change).href;

/** Faults in the settings alone: what is wrong, and the line that finds it. */
const FAULTS: Record<string, [Wrong, RegExp]> = {
  'a variable that is none of what it takes': [
    { PORT: 'abc' },
    /^fault configuration: PORT is "abc", but takes a whole number/,
  ],
  'a secret that is missing': [{ ADMIN_KEY: undefined }, /^fault configuration: Production needs ADMIN_KEY/],
  'a secret that can be guessed': [
    { JWT_SECRET: 'change-me'.repeat(5) },
    /^fault configuration: JWT_SECRET looks like a placeholder/,
  ],
  'an interval of the scheduler': [
    { SCHEDULER_INTERVAL_MS: '1' },
    /^fault configuration: SCHEDULER_INTERVAL_MS is "1"/,
  ],
  'a database that is not there': [
    { DATABASE_URL: `postgres://carillon@${NOWHERE}/carillon` },
    /^fault database: Nobody listens .*ECONNREFUSED/,
  ],
  'a wrong password of the database': [
    { DATABASE_URL: at(env.DATABASE_URL, { password: 'wrong' }) },
    /^fault database: The database refuses the password/,
  ],
  'a wrong name of the database': [
    { DATABASE_URL: at(env.DATABASE_URL, { pathname: '/nothing' }) },
    /^fault database: There is no such database/,
  ],
  'more connections than there are': [
    { DATABASE_POOL: '1000' },
    /^fault database: 1 API processes with DATABASE_POOL=1000 need up to 1000 connections, but/,
  ],
  'a wrong key of the provider': [{ AI_API_KEY: 'wrong' }, /^fault AI provider: The key is refused/],
  'a wrong address of the provider': [
    { AI_BASE_URL: `${ai.url}/no` },
    /^fault AI provider: .* is not the address of an OpenAI-compatible service/,
  ],
  'a provider that is not there': [
    { AI_BASE_URL: `http://${NOWHERE}/v1` },
    /^fault AI provider: .* cannot be reached: .*ECONNREFUSED/,
  ],
  'a provider that says nothing': [
    { AI_BASE_URL: `http://${MUTE}/v1`, AI_TIMEOUT_MS: '300' },
    /^fault AI provider: .* does not answer in time/,
  ],
  'a provider of Anthropic that is none': [
    { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: ai.url },
    /^fault AI provider: .* is not the address of the Anthropic Messages API/,
  ],
  'a mail server that is not there': [
    { SMTP_URL: `smtp://${NOWHERE}` },
    /^fault mail: .* cannot be reached: .*ECONNREFUSED/,
  ],
  'a mail server that refuses the log-in': [
    { SMTP_URL: `smtp://carillon:wrong@127.0.0.1:${mailPort}` },
    /^fault mail: .* refuses the log-in/,
  ],
  'a mail server without TLS': [{ SMTP_URL: `smtps://127.0.0.1:${mailPort}` }, /^fault mail: No secure connection/],
  'a bucket that is not there': [
    {
      STORAGE_DRIVER: 's3',
      S3_ENDPOINT: `http://${NOWHERE}`,
      S3_BUCKET: 'files',
      S3_ACCESS_KEY_ID: 'a',
      S3_SECRET_ACCESS_KEY: 'b',
    },
    /^fault storage: the bucket files cannot be written into: .*ECONNREFUSED/,
  ],
  'an address that nobody answers at': [
    { BASE_URL: `http://${NOWHERE}` },
    /^warning reverse proxy: .* cannot be reached from here/,
  ],
};

for (const [fault, [wrong, line]] of Object.entries(FAULTS)) {
  t.test(`it finds ${fault}, and nothing else`, async (t) => {
    const found = await complaints(wrong);
    t.match(found, [line]);
    t.equal(found.length, 1, found.join('\n'));
  });
}

t.test('each fault of the settings is named, not only the first', async (t) => {
  const found = await complaints({
    PORT: 'abc',
    LOG_LEVEL: 'loud',
    JWT_SECRET: undefined,
    CRON_SECRET: env.ADMIN_KEY,
    ENCRYPTION_KEY: 'short',
    SMTP_URL: 'mail.example.com',
    STORAGE_DRIVER: 's3',
    OAUTH_GITHUB_CLIENT_SECRET: 'without an id',
    COOKIE_SECURE: 'false',
    DATABASE_URL: `postgres://${NOWHERE}/carillon`,
    AI_API_KEY: 'wrong',
  });
  const lines = [
    /PORT is "abc"/,
    /LOG_LEVEL is "loud"/,
    /Production needs JWT_SECRET/,
    /ADMIN_KEY is the same as CRON_SECRET/,
    /ENCRYPTION_KEY takes base64/,
    /SMTP_URL is "mail.example.com"/,
    /STORAGE_DRIVER is "s3", which needs S3_BUCKET/,
    /OAUTH_GITHUB_CLIENT_ID and OAUTH_GITHUB_CLIENT_SECRET are set together/,
    /COOKIE_SECURE may be false in development only/,
    /^fault database: Nobody listens/,
    /^fault AI provider: The key is refused/,
    /^warning mail: This was not looked at/,
    /^warning storage: This was not looked at/,
  ];
  for (const line of lines)
    t.ok(
      found.some((one) => line.test(one)),
      String(line),
    );
  t.equal(found.length, lines.length, found.join('\n'));
});

t.test('it finds what stands in .env and is read by nobody', async (t) => {
  writeFileSync(join(DATA_DIR, '.env'), 'SMTP_URI=smtp://x\nLOG_LEVEL=info\n', { mode: 0o600 });
  t.strictSame(await complaints(), ['warning configuration: SMTP_URI stands in .env, but is no setting of Carillon.']);
  chmodSync(join(DATA_DIR, '.env'), 0o644);
  t.match(await complaints(), [/SMTP_URI/, /^warning data folder: Other users of this machine can get at .*\/\.env/]);
  rmSync(join(DATA_DIR, '.env'));
});

t.test('it finds files that others can read, and a folder that is none', async (t) => {
  writeFileSync(join(DATA_DIR, 'jwt'), env.JWT_SECRET ?? '', { mode: 0o644 });
  const fromFile = { JWT_SECRET: undefined, JWT_SECRET_FILE: join(DATA_DIR, 'jwt') };
  t.strictSame(await complaints(fromFile), [
    `fault data folder: Other users of this machine can get at ${join(DATA_DIR, 'jwt')}.`,
  ]);
  rmSync(join(DATA_DIR, 'jwt'));
  writeFileSync(join(DATA_DIR, 'plain'), '');
  t.match(await complaints({ DATA_DIR: join(DATA_DIR, 'plain') }), [
    /^fault data folder: .* is no folder/,
    /^fault storage: .* cannot be used: /,
  ]);
  rmSync(join(DATA_DIR, 'files'), { recursive: true });
  writeFileSync(join(DATA_DIR, 'files'), '', { mode: 0o600 });
  t.match(await complaints(), [/^fault storage: .*files cannot be used: /]);
  rmSync(join(DATA_DIR, 'files'));
  mkdirSync(join(DATA_DIR, 'files'), { mode: 0o755 });
  chmodSync(join(DATA_DIR, 'files'), 0o755);
  t.match(await complaints(), [/^warning data folder: Other users .*files/]);
  rmSync(join(DATA_DIR, 'files'), { recursive: true });
});

t.test('it finds secrets whose key is gone', async (t) => {
  const gone = { id: 'gone', key: Buffer.alloc(32, 7) };
  const providerKeySealed = encrypt([gone], 'sk-of-bob', `users.provider_key_sealed:${userId}`);
  await db.update(users).set({ providerKeySealed }).where(eq(users.id, userId));
  t.strictSame(await complaints(), [
    `fault secrets: users.provider_key_sealed:${userId} is encrypted with key "gone", which ENCRYPTION_KEY does not list.`,
  ]);
  await db.update(users).set({ providerKeySealed: null });
});

t.test('it finds tasks that nobody takes up', async (t) => {
  const now = Date.now();
  const times = { scheduledFor: new Date(now), createdAt: new Date(now), updatedAt: new Date(now) };
  const what = {
    name: 'Late',
    prompt: 'p',
    recurrence: 'daily',
    timezone: 'UTC',
    aiModel: 'm',
    maxTokens: 1,
    temperature: 70,
  } as const;
  await db.insert(tasks).values({ userId, ...what, ...times, nextExecutionAt: new Date(now - 3_600_000) });
  t.match(await complaints(), [/^fault scheduler: 1 tasks are overdue, the oldest for 36\d\d s/]);
  await db.update(tasks).set({ nextExecutionAt: null });
  await db.execute(sql`
    insert into occurrences select id, now() - interval '40 minutes', 'late', now() - interval '35 minutes' from tasks`);
  t.match(await complaints(), [
    /^warning scheduler: 1 of the 1 runs of the last hour were taken up more than 30 s late/,
  ]);
  await db.delete(tasks);
});

t.test('it finds a clock that is wrong', async (t) => {
  const ahead = { now: () => new Date(Date.now() + 60_000) };
  t.match(await complaints({}, ahead), [/^fault database: Its clock is (59|60|61)\.\d s behind this machine's/]);
});

t.test('it finds a schema that is old, of another version, or not there', async (t) => {
  const { url: old } = await emptyDatabase(t, 'doctor_old', { upTo: 0, data: [] });
  t.match(await complaints({ DATABASE_URL: old }), [/^warning database: \d+ migrations are not applied yet/]);
  const { url: none } = await emptyDatabase(t, 'doctor_none');
  t.match(await complaints({ DATABASE_URL: none }), [/^warning database: It has no tables yet/]);
  await db.execute(sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 9000000000000)`);
  t.match(await complaints(), [/^fault database: Its schema is of a newer Carillon/]);
  await db.execute(sql`delete from drizzle.__drizzle_migrations where hash = 'later'`);
});

t.test('it finds a user that may not do what it has to', async (t) => {
  const role = `doctor_${process.pid}`;
  await db.execute(sql.raw(`create role ${role} login password 'secret'`));
  const weak = { DATABASE_URL: at(env.DATABASE_URL, { username: role, password: 'secret' }) };
  t.match(await complaints(weak), [/^fault database: This user may not read what it has to: permission denied/]);
  await db.execute(
    sql.raw(`grant usage on schema drizzle to ${role}; grant select on all tables in schema drizzle to ${role}`),
  );
  t.match(await complaints(weak), [
    /^fault database: This user may not read and write agent_calls, audit_log, coupon_redemptions and \d+ more/,
  ]);
  await db.execute(sql.raw(`grant all on all tables in schema public to ${role}`));
  t.match(await complaints(weak), [/^fault database: This user may not change the schema/]);
  await db.execute(sql.raw(`drop owned by ${role}; drop role ${role}`));
});

t.test('it finds another version at the address of the clients, and none at all', async (t) => {
  answerHealth({ status: 'ok', version: '0.0.1' });
  t.match(await complaints(), [/^warning reverse proxy: Version 0\.0\.1 answers/]);
  answerHealth({ hello: 'world' });
  t.match(await complaints(), [/^warning reverse proxy: .* answers with 200, but not as Carillon does/]);
});

t.test('the command ends with 1 when there is a fault, and tells them as JSON', async (t) => {
  const cwd = DATA_DIR;
  const well = await runCarillon(['doctor'], env, { cwd });
  t.match(well, { code: 0, err: '', out: '0 faults, 1 warnings.\n' });
  const ill = await runCarillon(['doctor', '--json'], { ...env, AI_API_KEY: 'wrong' }, { cwd });
  t.equal(ill.code, 1);
  const { findings, faults, warnings } = JSON.parse(ill.out);
  t.same([faults, warnings], [1, 1]);
  t.match(
    findings.find(({ level }: { level: string }) => level === 'fault'),
    { check: 'AI provider', mend: 'Correct AI_API_KEY.' },
  );
});

t.test('before the first start nothing is made, neither a database nor a secret', async (t) => {
  const cwd = t.testdir();
  const { code, out } = await runCarillon(
    ['doctor'],
    { DATA_DIR: join(cwd, 'data'), BASE_URL: `http://${NOWHERE}` },
    { cwd },
  );
  t.equal(code, 0, out);
  t.match(out, 'the embedded PostgreSQL is made at the first start');
  t.strictSame(readdirSync(cwd), []);
});
