import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyPassword } from '@carillon/api/auth/passwords';
import { auditLog, sessions, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { emptyDatabase } from '../../../../packages/db/test/empty-database.ts';
import { runCarillon } from './run-carillon.ts';

const cwd = mkdtempSync(join(tmpdir(), 'carillon-admin-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
const { db, url } = await testDatabase(t);
const env = { DATA_DIR: cwd, DATABASE_URL: url };
const createAdmin = (...args: string[]) => runCarillon(['create-admin', ...args], env, { cwd });
const find = async (email: string) => (await db.select().from(users).where(eq(users.email, email)))[0];
const passwordFile = join(cwd, 'password');
writeFileSync(passwordFile, 'Carillon-2026\n');

t.test('an account of an admin is made, with the password of a file', async (t) => {
  const { code, out, err } = await createAdmin(' Ada@Example.com', '--password-file', passwordFile, '--name', 'Ada');
  t.same([code, err, out], [0, '', 'ada@example.com has an account of an admin now.\n']);
  const ada = await find('ada@example.com');
  t.match(ada, { role: 'ADMIN', name: 'Ada', isActive: true });
  t.ok(await verifyPassword(ada?.passwordHash ?? null, 'Carillon-2026'));
  t.match(
    await db
      .select()
      .from(auditLog)
      .where(eq(auditLog.userId, ada?.id ?? 0)),
    [{ kind: 'user.registered', actorId: null, details: { by: 'create-admin', role: 'ADMIN' } }],
  );
  const again = await createAdmin('ada@example.com', '--generate');
  t.same([again.code, again.out], [0, 'ada@example.com was an admin already.\n']);
  t.ok(await verifyPassword((await find('ada@example.com'))?.passwordHash ?? null, 'Carillon-2026'));
});

t.test('a generated password is shown this once, and works', async (t) => {
  const { out } = await createAdmin('grace@example.com', '--generate', '--json');
  const { password, ...told } = JSON.parse(out);
  t.strictSame(told, { email: 'grace@example.com', outcome: 'created', isActive: true });
  t.ok(await verifyPassword((await find('grace@example.com'))?.passwordHash ?? null, password));
});

t.test('an account that exists is promoted: it keeps its password and has to sign in again', async (t) => {
  const account = {
    identityUserId: 'local:b',
    email: 'bob@example.com',
    name: 'Bob',
    passwordHash: 'kept',
    isActive: false,
  };
  const [bob] = await db.insert(users).values(account).returning({ id: users.id });
  const userId = bob?.id ?? 0;
  const at = new Date();
  const id = '00000000-0000-4000-8000-000000000001';
  await db.insert(sessions).values({ id, userId, createdAt: at, lastUsedAt: at, expiresAt: at });
  const { code, out } = await createAdmin('bob@example.com');
  t.equal(code, 0);
  t.match(out, 'bob@example.com is an admin now; the password is the one of before.\nThe account is deactivated');
  t.match(await find('bob@example.com'), { role: 'ADMIN', passwordHash: 'kept', isActive: false });
  t.equal(await db.$count(sessions, eq(sessions.userId, userId)), 0);
  t.match(await db.select().from(auditLog).where(eq(auditLog.userId, userId)), [{ kind: 'user.promoted' }]);
});

t.test('what cannot be done is one line, and makes no account', async (t) => {
  const before = await db.$count(users);
  writeFileSync(join(cwd, 'weak'), 'short');
  const refused = async (code: number, message: RegExp, ...args: string[]) => {
    const ended = await createAdmin(...args);
    t.equal(ended.code, code);
    t.match(ended.err, message);
    t.equal(ended.err.split('\n').length, 2, ended.err);
  };
  await refused(1, /^The address .*e-mail/, 'nobody', '--generate');
  await refused(1, /^The password /, 'x@example.com', '--password-file', join(cwd, 'weak'));
  await refused(1, /cannot be read \(ENOENT\)/, 'x@example.com', '--password-file', join(cwd, 'none'));
  await refused(
    2,
    /--password-file or --generate, not both/,
    'x@example.com',
    '--generate',
    '--password-file',
    passwordFile,
  );
  await refused(2, /There is no terminal/, 'x@example.com');
  t.equal(await db.$count(users), before);
  const { url: nothing } = await emptyDatabase(t, 'admin_nothing');
  const early = await runCarillon(
    ['create-admin', 'x@example.com', '--generate'],
    { ...env, DATABASE_URL: nothing },
    { cwd },
  );
  t.same([early.code, early.err], [1, 'The database has no tables yet: start Carillon first.\n']);
});

t.test('wrong usage is told with the exit code 2, and each command has its help', async (t) => {
  t.match(await runCarillon(['create-admin'], env, { cwd }), { code: 2, err: /missing required argument 'email'/ });
  t.match(await runCarillon(['nothing'], env, { cwd }), { code: 2, err: /unknown command 'nothing'/ });
  t.match(await runCarillon(['doctor', '--processes', 'many'], env, { cwd }), { code: 2 });
  for (const command of ['doctor', 'create-admin', 'backup', 'restore', 'prune', 'usage verify', 'secrets rotate']) {
    const { code, out } = await runCarillon([...command.split(' '), '--help'], env, { cwd });
    t.equal(code, 0);
    t.match(out, `Usage: carillon ${command}`);
  }
});
