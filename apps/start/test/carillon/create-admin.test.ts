import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyPassword } from '@carillon/api/product/auth/passwords';
import { auditLog, sessions, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { emptyDatabase } from '../../../../packages/db/test/empty-database.ts';
import { openCarillon, runCarillon } from './run-carillon.ts';

const cwd = mkdtempSync(join(tmpdir(), 'carillon-admin-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
const { db, url } = await testDatabase(t);
const env = { DATA_DIR: cwd, DATABASE_URL: url };
const runNext = openCarillon(t);
const createAdmin = (...args: string[]) => runNext(['create-admin', ...args], env, { cwd });
const find = async (email: string) => (await db.select().from(users).where(eq(users.email, email)))[0];
const passwordFile = join(cwd, 'password');
writeFileSync(passwordFile, 'Carillon-2026\n');

t.test('An admin account is created with the password of a file', async (t) => {
  const { code, out, err } = await runCarillon(
    ['create-admin', ' Ada@Example.com', '--password-file', passwordFile, '--name', 'Ada'],
    env,
    { cwd },
  );
  t.same([code, err, out], [0, '', 'ada@example.com now has an admin account.\n']);
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
  t.same([again.code, again.out], [0, 'ada@example.com already was an admin.\n']);
  t.ok(await verifyPassword((await find('ada@example.com'))?.passwordHash ?? null, 'Carillon-2026'));
});

t.test('A generated password is printed and works', async (t) => {
  const { out } = await createAdmin('grace@example.com', '--generate', '--json');
  const { password, ...rest } = JSON.parse(out);
  t.strictSame(rest, { email: 'grace@example.com', outcome: 'created', isActive: true });
  t.ok(await verifyPassword((await find('grace@example.com'))?.passwordHash ?? null, password));
});

t.test('An existing account is promoted, keeps its password and has to sign in again', async (t) => {
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
  t.match(out, 'bob@example.com is now an admin; the password has not changed.\nThe account is deactivated');
  t.match(await find('bob@example.com'), { role: 'ADMIN', passwordHash: 'kept', isActive: false });
  t.equal(await db.$count(sessions, eq(sessions.userId, userId)), 0);
  t.match(await db.select().from(auditLog).where(eq(auditLog.userId, userId)), [{ kind: 'user.promoted' }]);
});

t.test('A failure is one line and creates no account', async (t) => {
  const before = await db.$count(users);
  writeFileSync(join(cwd, 'weak'), 'short');
  const assertRejected = async (code: number, message: RegExp, ...args: string[]) => {
    const result = await createAdmin(...args);
    t.equal(result.code, code);
    t.match(result.err, message);
    t.equal(result.err.split('\n').length, 2, result.err);
  };
  await assertRejected(1, /^The e-mail address .*e-mail/, 'nobody', '--generate');
  await assertRejected(1, /^The password /, 'x@example.com', '--password-file', join(cwd, 'weak'));
  await assertRejected(1, /cannot be read \(ENOENT\)/, 'x@example.com', '--password-file', join(cwd, 'none'));
  await assertRejected(
    2,
    /--password-file or --generate, not both/,
    'x@example.com',
    '--generate',
    '--password-file',
    passwordFile,
  );
  await assertRejected(2, /Without a terminal/, 'x@example.com');
  t.equal(await db.$count(users), before);
  const { url: nothing } = await emptyDatabase(t, 'admin_nothing');
  const early = await runNext(
    ['create-admin', 'x@example.com', '--generate'],
    { ...env, DATABASE_URL: nothing },
    { cwd },
  );
  t.same([early.code, early.err], [1, 'The database has no tables yet: start Carillon first.\n']);
});

t.test('A terminal in Portuguese is answered in Portuguese', async (t) => {
  const portuguese = { ...env, LC_ALL: '', LC_MESSAGES: '', LANG: 'pt_BR.UTF-8' };
  const weak = await runNext(['create-admin', 'x@example.com', '--password-file', join(cwd, 'weak')], portuguese, {
    cwd,
  });
  t.match([weak.code, weak.err], [1, /^A senha deve ter pelo menos 8 caracteres/]);
  const link = await runNext(['setup-link'], portuguese, { cwd });
  t.match([link.code, link.err], [1, /^Já existe uma conta/]);
  const help = await runNext(['create-admin', '--help'], portuguese, { cwd });
  t.match(help.out, /^Uso: .*\nCria uma conta.*\nArgumentos:.*\nOpções:.*\(padrão: "Admin"\)/s);
  t.notMatch(help.out, /default|display help/);
});

t.test('Invalid arguments exit with 2, and each command has help', async (t) => {
  t.match(await runCarillon(['create-admin'], env, { cwd }), { code: 2, err: /missing required argument 'email'/ });
  t.match(await runNext(['nothing'], env, { cwd }), { code: 2, err: /unknown command 'nothing'/ });
  t.match(await runNext(['doctor', '--processes', 'many'], env, { cwd }), { code: 2 });
  for (const command of [
    'doctor',
    'create-admin',
    'reset-factors',
    'backup',
    'restore',
    'prune',
    'usage verify',
    'secrets rotate',
  ]) {
    const { code, out } = await runNext([...command.split(' '), '--help'], env, { cwd });
    t.equal(code, 0);
    t.match(out, `Usage: carillon ${command}`);
  }
});
