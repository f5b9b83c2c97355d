import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '@carillon/api/lib/config/config';
import { columnAad, encrypt } from '@carillon/api/lib/crypto/encryption';
import type { Finding } from '@carillon/api/product/system/checks/finding';
import { deliveries, endpoints, schedulerState, tasks, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { emptyDatabase } from '../../../../packages/db/test/empty-database.ts';
import { startTlsServer } from '../../../../packages/db/test/tls-server.ts';
import { type CheckOptions, runChecks } from '../../src/carillon/doctor/run-checks.ts';
import { startHealthyInstallation } from './installation.ts';
import { runCarillon } from './run-carillon.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'carillon-doctor-'));
t.teardown(() => rmSync(DATA_DIR, { recursive: true, force: true }));
const { env, db, ai, mailPort, answerHealth } = await startHealthyInstallation(t, DATA_DIR);
const [bob] = await db
  .insert(users)
  .values({ identityUserId: 'local:b', email: 'bob@example.com', name: 'Bob' })
  .returning();
const userId = bob?.id ?? 0;
await db.update(schedulerState).set({ lastCalledAt: new Date() });
const tls = await startTlsServer(t);
await tls.requireTls();
/** Nothing listens there. */
const NOWHERE = '127.0.0.1:9';
/** Accepts connections and never answers. */
const silent = createServer(() => {}).listen(0, '127.0.0.1');
await new Promise<void>((resolve) => silent.once('listening', resolve));
t.teardown(() => silent.close());
const SILENT = `127.0.0.1:${(silent.address() as AddressInfo).port}`;

type Overrides = Record<string, string | undefined>;

/** The findings that are not ok, as `level check: message`. */
async function findProblems(overrides: Overrides = {}, options: CheckOptions = {}) {
  const findings = await runChecks({ ...env, ...overrides }, getTexts('en').doctor, { cwd: DATA_DIR, ...options });
  for (const { level, fix } of findings)
    if (level !== 'ok' && !fix) throw new Error('A finding does not say how to fix it.');
  return findings
    .filter(({ level }) => level !== 'ok')
    .map(({ level, check, message }) => `${level} ${check}: ${message}`);
}

t.test('A healthy installation has no problems', async (t) => {
  t.strictSame(await findProblems(), []);
});

const at = (url: string | undefined, change: Partial<URL>) => Object.assign(new URL(url ?? ''), change).href;

/** Settings with one problem each, and the finding with its fix. */
const PROBLEMS: Record<string, [Overrides, RegExp]> = {
  'an invalid value': [{ PORT: 'abc' }, /^problem configuration: PORT is "abc", but takes a whole number/],
  'a missing secret': [{ ADMIN_KEY: undefined }, /^problem configuration: Production needs ADMIN_KEY/],
  'a weak secret': [
    { JWT_SECRET: 'change-me'.repeat(5) },
    /^problem configuration: JWT_SECRET looks like a placeholder/,
  ],
  'an invalid interval of the scheduler': [
    { SCHEDULER_INTERVAL_MS: '1' },
    /^problem configuration: SCHEDULER_INTERVAL_MS is "1"/,
  ],
  'an unreachable database': [
    { DATABASE_URL: `postgres://carillon@${NOWHERE}/carillon` },
    /^problem database: Nothing listens .*ECONNREFUSED/,
  ],
  'a wrong database password': [
    { DATABASE_URL: at(env.DATABASE_URL, { password: 'wrong' }) },
    /^problem database: The database rejects the password/,
  ],
  'a wrong database name': [
    { DATABASE_URL: at(env.DATABASE_URL, { pathname: '/nothing' }) },
    /^problem database: The database does not exist/,
  ],
  'a wrong database host': [
    { DATABASE_URL: at(env.DATABASE_URL, { hostname: 'nothing.invalid' }) },
    /^problem database: The host of the database is unknown: .* Correct the host in DATABASE_URL/,
  ],
  'a database password that is not percent-encoded': [
    { DATABASE_URL: 'postgres://carillon:12/34@127.0.0.1/carillon' },
    /^problem configuration: DATABASE_URL has a user or password that is not percent-encoded: write %23 for #/,
  ],
  'a CA file of the database that does not exist': [
    { DATABASE_URL: `${env.DATABASE_URL}?sslmode=verify-full&sslrootcert=/nothing.crt` },
    /^problem configuration: DATABASE_URL names \/nothing\.crt as sslrootcert, which cannot be read/,
  ],
  'a database without TLS': [
    { DATABASE_URL: `${env.DATABASE_URL}?sslmode=require` },
    /^problem database: The server does not support TLS: .* Turn TLS on at the server/,
  ],
  'a database that requires TLS': [
    { DATABASE_URL: tls.url },
    /^problem database: The server requires TLS: .* Add sslmode=require to DATABASE_URL/,
  ],
  'a database whose certificate is not trusted': [
    { DATABASE_URL: `${tls.url}?sslmode=verify-full` },
    /^problem database: The certificate of the server is not trusted: .* Set sslrootcert in DATABASE_URL/,
  ],
  'a database with the certificate of another host': [
    { DATABASE_URL: `${at(tls.url, { hostname: '127.0.0.1' })}?sslmode=verify-full&sslrootcert=${tls.caFile}` },
    /^problem database: The certificate of the server is for another host: .* Set the host in DATABASE_URL/,
  ],
  'a parameter that the database does not know': [
    { DATABASE_URL: `${env.DATABASE_URL}?channel_binding=require` },
    /^problem database: The server does not know a parameter of DATABASE_URL: .*"channel_binding" Remove this/,
  ],
  'production with the embedded database': [
    { DATABASE_URL: undefined },
    /^warning configuration: Production uses the embedded database, because DATABASE_URL is not set/,
  ],
  'a misspelt setting': [
    { AI_BASEURL: 'https://openrouter.ai/api/v1' },
    /^warning configuration: AI_BASEURL is not a setting of Carillon and is ignored\. The nearest is AI_BASE_URL\./,
  ],
  'a URL of the AI provider with the path of calls': [
    { AI_BASE_URL: `${ai.url}/chat/completions` },
    /^problem configuration: AI_BASE_URL is ".*", but takes offline, or an http\(s\) URL that ends before \/chat\/comp/,
  ],
  'a path in BASE_URL': [
    { BASE_URL: 'https://example.com/carillon' },
    /^problem configuration: BASE_URL is ".*", but takes .* ends after the host and port: a path is not supported/,
  ],
  'a read-only database': [
    { DATABASE_URL: `${env.DATABASE_URL}?default_transaction_read_only=on` },
    /^problem database: It is read-only: default_transaction_read_only is on/,
  ],
  'a standby that is away': [
    { DATABASE_READ_URL: `postgres://carillon@${NOWHERE}/carillon` },
    /^warning read replicas: 127.0.0.1:9 is not read, and the primary answers instead\. Nothing listens .* port in DATABASE_READ_URL/,
  ],
  'the primary instead of a standby': [
    { DATABASE_READ_URL: env.DATABASE_URL },
    /^warning read replicas: .* is the primary, which answers these reads anyway/,
  ],
  'another database instead of a standby': [
    { DATABASE_READ_URL: at(env.DATABASE_URL, { pathname: '/postgres' }) },
    /^problem read replicas: .* is not a standby of the database at DATABASE_URL/,
  ],
  'too many connections': [
    { DATABASE_POOL: '1000' },
    /^problem database: 1 API process with DATABASE_POOL=1000 can use 1001 connections, but/,
  ],
  'a wrong key of the AI provider': [{ AI_API_KEY: 'wrong' }, /^problem AI provider: The key is rejected/],
  'a wrong URL of the AI provider': [
    { AI_BASE_URL: `${ai.url}/no` },
    /^problem AI provider: .* is not the URL of an OpenAI-compatible service/,
  ],
  'an unreachable AI provider': [
    { AI_BASE_URL: `http://${NOWHERE}/v1` },
    /^problem AI provider: .* cannot be reached: .*ECONNREFUSED/,
  ],
  'an AI provider that does not answer': [
    { AI_BASE_URL: `http://${SILENT}/v1`, AI_TIMEOUT_MS: '300' },
    /^problem AI provider: .* does not answer in time/,
  ],
  'a wrong URL of the Anthropic API': [
    { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: ai.url },
    /^problem AI provider: .* is not the URL of the Anthropic Messages API/,
  ],
  'an unreachable mail server': [
    { SMTP_URL: `smtp://${NOWHERE}` },
    /^problem mail: .* cannot be reached: .*ECONNREFUSED/,
  ],
  'a mail server that rejects the log-in': [
    { SMTP_URL: `smtp://carillon:wrong@127.0.0.1:${mailPort}` },
    /^problem mail: .* rejects the log-in/,
  ],
  'a mail server without TLS': [{ SMTP_URL: `smtps://127.0.0.1:${mailPort}` }, /^problem mail: No secure connection/],
  'an unreachable bucket': [
    {
      STORAGE_DRIVER: 's3',
      S3_ENDPOINT: `http://${NOWHERE}`,
      S3_BUCKET: 'files',
      S3_ACCESS_KEY_ID: 'a',
      S3_SECRET_ACCESS_KEY: 'b',
    },
    /^problem storage: the bucket files cannot be written into: .*ECONNREFUSED/,
  ],
  'an unreachable BASE_URL': [
    { BASE_URL: `http://${NOWHERE}` },
    /^warning reverse proxy: .* cannot be reached from here/,
  ],
};

for (const [name, [overrides, line]] of Object.entries(PROBLEMS)) {
  t.test(`The doctor finds ${name}, and nothing else`, async (t) => {
    const findings = await runChecks({ ...env, ...overrides }, getTexts('en').doctor, { cwd: DATA_DIR });
    const isSkipped = ({ message }: Finding) => message === 'This was not checked.';
    const found = findings.filter((finding) => finding.level !== 'ok' && !isSkipped(finding));
    const lines = found.map(({ level, check, message, fix }) => `${level} ${check}: ${message} ${fix}`);
    t.match(lines, [line]);
    t.equal(lines.length, 1, lines.join('\n'));
  });
}

t.test('Every invalid setting is named, not only the first', async (t) => {
  const found = await findProblems({
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
    /OAUTH_GITHUB_CLIENT_ID and OAUTH_GITHUB_CLIENT_SECRET must be set together/,
    /COOKIE_SECURE can only be false in development/,
    /^problem database: Nothing listens/,
    /^problem AI provider: The key is rejected/,
    /^warning mail: This was not checked/,
    /^warning storage: This was not checked/,
  ];
  for (const line of lines)
    t.ok(
      found.some((one) => line.test(one)),
      String(line),
    );
  t.equal(found.length, lines.length, found.join('\n'));
});

t.test('The doctor finds every variable in .env that nothing reads', async (t) => {
  writeFileSync(join(DATA_DIR, '.env'), 'SMTP_URI=smtp://x\nEDITOR=vi\nLOG_LEVEL=info\n', { mode: 0o600 });
  t.match(await findProblems(), [
    /^warning configuration: EDITOR is not a setting of Carillon/,
    'warning configuration: SMTP_URI is not a setting of Carillon and is ignored. The nearest is SMTP_URL.',
  ]);
  chmodSync(join(DATA_DIR, '.env'), 0o644);
  t.match(await findProblems(), [
    /EDITOR/,
    /SMTP_URI/,
    /^warning data folder: Other users of this machine can access .*\/\.env/,
  ]);
  rmSync(join(DATA_DIR, '.env'));
});

t.test('The doctor finds files that others can read, and a data folder that is a file', async (t) => {
  writeFileSync(join(DATA_DIR, 'jwt'), env.JWT_SECRET ?? '', { mode: 0o644 });
  const fromFile = { JWT_SECRET: undefined, JWT_SECRET_FILE: join(DATA_DIR, 'jwt') };
  t.strictSame(await findProblems(fromFile), [
    `problem data folder: Other users of this machine can access ${join(DATA_DIR, 'jwt')}.`,
  ]);
  rmSync(join(DATA_DIR, 'jwt'));
  writeFileSync(join(DATA_DIR, 'plain'), '');
  t.match(await findProblems({ DATA_DIR: join(DATA_DIR, 'plain') }), [
    /^problem data folder: .* is not a folder/,
    /^problem storage: .* cannot be used: /,
  ]);
  rmSync(join(DATA_DIR, 'files'), { recursive: true });
  writeFileSync(join(DATA_DIR, 'files'), '', { mode: 0o600 });
  t.match(await findProblems(), [/^problem storage: .*files cannot be used: /]);
  rmSync(join(DATA_DIR, 'files'));
  mkdirSync(join(DATA_DIR, 'files'), { mode: 0o755 });
  chmodSync(join(DATA_DIR, 'files'), 0o755);
  t.match(await findProblems(), [/^warning data folder: Other users .*files/]);
  rmSync(join(DATA_DIR, 'files'), { recursive: true });
});

t.test('The doctor finds secrets whose key is missing', async (t) => {
  const missing = { id: 'gone', key: Buffer.alloc(32, 7) };
  const aad = columnAad('users.provider_key_encrypted', userId);
  const providerKeyEncrypted = encrypt([missing], 'sk-of-bob', aad);
  await db.update(users).set({ providerKeyEncrypted }).where(eq(users.id, userId));
  t.strictSame(await findProblems(), [
    `problem secrets: ${aad} is encrypted with key "gone", which ENCRYPTION_KEY does not list.`,
  ]);
  await db.update(users).set({ providerKeyEncrypted: null });
});

t.test('The doctor finds due tasks that are not enqueued', async (t) => {
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
  t.match(await findProblems(), [
    /^problem scheduler: Due tasks are not enqueued\. Overdue: 1, the oldest for 36\d\d s/,
  ]);
  await db.update(tasks).set({ nextExecutionAt: null });
  await db.execute(sql`
    insert into occurrences select id, now() - interval '40 minutes', 'late', now() - interval '35 minutes' from tasks`);
  t.match(await findProblems(), [
    /^warning scheduler: Of the 1 runs in the last hour, 1 were enqueued more than 30 s late/,
  ]);
  await db.delete(tasks);
});

t.test('The doctor finds a scheduler that has not called for two minutes', async (t) => {
  await db.update(schedulerState).set({ lastCalledAt: new Date(Date.now() - 3_600_000) });
  t.match(await findProblems(), [/^warning scheduler: The scheduler has not called for 36\d\d s\./]);
  await db.update(schedulerState).set({ lastCalledAt: new Date() });
  t.strictSame(await findProblems(), []);
});

t.test('The doctor finds deliveries to failed webhooks, and `prune` ends them', async (t) => {
  const id = randomUUID();
  const longAgo = new Date(Date.now() - 120_000);
  const times = { createdAt: longAgo, updatedAt: longAgo };
  const webhook = { id, userId, url: 'https://example.com/', events: [], secretEncrypted: '', secretLookup: 'x' };
  await db.insert(endpoints).values({ ...webhook, ...times, status: 'failed' });
  const delivery = { webhookId: id, event: 'task.updated', payload: '{}', requestId: 'r', nextAttemptAt: longAgo };
  await db.insert(deliveries).values({ id: randomUUID(), ...delivery, queuedAt: longAgo, createdAt: longAgo });
  const findOpen = async () => (await findProblems()).filter((line) => line.includes('webhooks:'));
  t.strictSame(await findOpen(), ['warning webhooks: Deliveries wait for webhooks that have failed: 1.']);
  const pruned = await runCarillon(['prune'], env, { cwd: DATA_DIR });
  t.match(pruned, { code: 0, out: 'Ended open deliveries: 1' });
  t.strictSame(await findOpen(), []);
  await db.delete(endpoints);
});

t.test('The doctor finds a wrong clock', async (t) => {
  const ahead = { now: () => new Date(Date.now() + 60_000) };
  t.match(await findProblems({}, ahead), [/^problem database: Its clock is (59|60|61)\.\d s behind this machine's/]);
});

t.test('The doctor finds a schema that is old, newer or missing', async (t) => {
  const { url: old } = await emptyDatabase(t, 'doctor_old', 'before');
  t.match(await findProblems({ DATABASE_URL: old }), [/^problem database: Its schema is from before 0000_initial/]);
  const { url: none } = await emptyDatabase(t, 'doctor_none');
  t.match(await findProblems({ DATABASE_URL: none }), [/^warning database: It has no tables yet/]);
  await db.execute(sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 9000000000000)`);
  t.match(await findProblems(), [/^problem database: Its schema belongs to a newer version/]);
  await db.execute(sql`delete from drizzle.__drizzle_migrations where hash = 'later'`);
});

t.test('The doctor finds missing privileges of the database user', async (t) => {
  const role = `doctor_${process.pid}`;
  await db.execute(sql.raw(`create role ${role} login password 'secret'`));
  const weak = { DATABASE_URL: at(env.DATABASE_URL, { username: role, password: 'secret' }) };
  t.match(await findProblems(weak), [/^problem database: This user lacks a privilege: permission denied/]);
  await db.execute(sql.raw(`grant usage on schema drizzle to ${role}`));
  await db.execute(sql.raw(`grant select on all tables in schema drizzle to ${role}`));
  t.match(await findProblems(weak), [
    /^problem database: This user cannot read and write agent_calls, alerts, api_key_usage and \d+ more/,
  ]);
  await db.execute(sql.raw(`grant all on all tables in schema public to ${role}`));
  t.match(await findProblems(weak), [/^problem database: This user cannot change the schema/]);
  await db.execute(sql.raw(`drop owned by ${role}`));
  await db.execute(sql.raw(`drop role ${role}`));
});

t.test('The doctor finds another version at BASE_URL, another clock, and another service', async (t) => {
  answerHealth({ status: 'ok', version: '0.0.1' });
  t.match(await findProblems(), [/^warning reverse proxy: Version 0\.0\.1 answers/]);
  answerHealth({ status: 'ok', version: VERSION, timestamp: new Date(Date.now() - 60_000) });
  t.match(await findProblems(), [
    /^warning reverse proxy: The clock of the API is (59|60|61)\.\d s behind this machine's/,
  ]);
  answerHealth({ hello: 'world' });
  t.match(await findProblems(), [/^warning reverse proxy: .* answers with 200, but not as Carillon does/]);
});

t.test('The command exits with 1 if there is a problem, and prints findings as JSON', async (t) => {
  const cwd = DATA_DIR;
  const healthy = await runCarillon(['doctor'], env, { cwd });
  t.match(healthy, { code: 0, err: '', out: '0 problems and 1 warning found.\n' });
  const broken = await runCarillon(['doctor', '--json'], { ...env, AI_API_KEY: 'wrong' }, { cwd });
  t.equal(broken.code, 1);
  const { findings, problems, warnings } = JSON.parse(broken.out);
  t.same([problems, warnings], [1, 1]);
  t.match(
    findings.find(({ level }: { level: string }) => level === 'problem'),
    { check: 'AI provider', fix: 'Correct AI_API_KEY.' },
  );
});

t.test('Before the first start, the doctor creates neither a database nor a secret', async (t) => {
  const cwd = t.testdir();
  const settings = { DATA_DIR: join(cwd, 'data'), BASE_URL: `http://${NOWHERE}` };
  const { code, out } = await runCarillon(['doctor'], settings, { cwd });
  t.equal(code, 0, out);
  t.match(out, 'the embedded PostgreSQL is created at the first start');
  const portuguese = await runCarillon(['doctor'], { ...settings, LC_ALL: 'pt_BR.UTF-8' }, { cwd });
  t.match(portuguese.out, 'banco de dados: o PostgreSQL embutido será criado na primeira inicialização');
  t.match(portuguese.out, /Resultado: 0 problemas e \d+ avisos?\./);
  t.strictSame(readdirSync(cwd), []);
});
