import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditLog, factors, mails, recoveryCodes, sessions, signInTickets, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { runCarillon } from './run-carillon.ts';

t.test('An operator removes the factors of an account, which then signs in with its password', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'carillon-factors-'));
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
  const { db, url } = await testDatabase(t);
  const env = { DATA_DIR: cwd, DATABASE_URL: url };
  const reset = (email: string) => runCarillon(['reset-factors', email], env, { cwd });
  const now = new Date();
  const userIds: number[] = [];
  for (const name of ['alice', 'bob']) {
    const account = { identityUserId: `local:${name}`, email: `${name}@example.com`, name, passwordHash: 'kept' };
    const [user] = await db.insert(users).values(account).returning({ id: users.id });
    const userId = user?.id ?? 0;
    userIds.push(userId);
    const id = `00000000-0000-4000-8000-00000000000${userId}`;
    await db
      .insert(factors)
      .values({ id, userId, kind: 'totp', name: 'Phone', secretEncrypted: 'x', createdAt: now, confirmedAt: now });
    await db.insert(recoveryCodes).values({ userId, codeHash: 'x' });
    await db.insert(signInTickets).values({ tokenHash: name, userId, expiresAt: now });
    await db.insert(sessions).values({ id, userId, createdAt: now, lastUsedAt: now, expiresAt: now });
  }
  const [alice = 0, bob = 0] = userIds;
  t.same(await reset('Alice@example.com '), {
    code: 0,
    out: 'Second factors of alice@example.com removed: 1. All its sessions have ended.\n',
    err: '',
  });
  const count = (userId: number) =>
    Promise.all(
      [factors, recoveryCodes, signInTickets, sessions].map((table) => db.$count(table, eq(table.userId, userId))),
    );
  t.same(await count(alice), [0, 0, 0, 0]);
  t.same(await count(bob), [1, 1, 1, 1]);
  t.match(await db.select().from(auditLog), [
    { kind: 'user.factors_reset', userId: alice, actorId: null, details: { by: 'reset-factors' } },
  ]);
  t.match(await db.select().from(mails), [
    { recipient: 'alice@example.com', subject: 'The second factors of your account were reset' },
  ]);
  t.equal((await db.select().from(users).where(eq(users.id, alice)))[0]?.passwordHash, 'kept');
  t.same(await reset('nobody@example.com'), { code: 1, out: '', err: 'No account has this e-mail address.\n' });
});
