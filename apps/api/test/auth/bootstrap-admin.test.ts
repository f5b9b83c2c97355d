import { auditLog, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { ConfigError, loadConfig } from '../../src/lib/config/config.ts';
import { bootstrapAdmin } from '../../src/product/auth/bootstrap-admin.ts';
import { logIn } from '../../src/product/auth/write.ts';
import { testContext } from '../support/context.ts';
import { findCallerByToken, PASSWORD, signUp } from '../support/people.ts';

const env = { BOOTSTRAP_ADMIN_EMAIL: 'Root@Example.com', BOOTSTRAP_ADMIN_PASSWORD: 'Operator-2026' };

const { app, ctx, logged } = await testContext(t, { env });
t.beforeEach(async () => {
  await ctx.db.delete(users);
  await ctx.db.delete(auditLog);
});

t.test('The account is created as an admin who can sign in', async (t) => {
  await bootstrapAdmin(ctx);
  const [root] = await ctx.db.select().from(users).where(eq(users.email, 'root@example.com'));
  t.match(root, { role: 'ADMIN', isActive: true, name: 'Admin' });
  const { user } = await logIn(ctx, { email: 'root@example.com', password: 'Operator-2026' });
  t.equal(user.role, 'ADMIN');
});

t.test('An existing account is promoted once, keeps its password and has to sign in again', async (t) => {
  const alice = await signUp(app, { name: 'Alice', email: 'root@example.com' });
  await bootstrapAdmin(ctx);
  t.equal(await findCallerByToken(ctx, alice.token), null);
  const { user, token } = await logIn(ctx, { email: 'root@example.com', password: PASSWORD });
  await bootstrapAdmin(ctx);
  t.match(await findCallerByToken(ctx, token), { role: 'ADMIN' }, 'the next start changes nothing');
  t.match(user, { id: alice.id, name: 'Alice', role: 'ADMIN' });
  const old = logIn(ctx, { email: 'root@example.com', password: 'Operator-2026' });
  await t.rejects(old, { name: 'AppError', message: /wrong/ });
});

t.test('Eight replicas that start together, and again, make one admin', async (t) => {
  await Promise.all(Array.from({ length: 8 }, () => bootstrapAdmin(ctx)));
  await bootstrapAdmin(ctx);
  t.equal(await ctx.db.$count(users), 1);
  t.match(await ctx.db.select().from(auditLog), [
    { kind: 'user.registered', actorId: null, details: { role: 'ADMIN' } },
  ]);
  t.notMatch(JSON.stringify(logged), 'Operator-2026');
});

t.test('Nothing happens without both variables', async (t) => {
  const config = loadConfig({ DATA_DIR: ctx.config.dataDir, BOOTSTRAP_ADMIN_EMAIL: 'root@example.com' });
  await bootstrapAdmin({ ...ctx, config });
  t.equal(await ctx.db.$count(users), 0);
});

t.test('An invalid e-mail address or password stops the start with one line', async (t) => {
  const refused: [email: string, password: string, expectedMessage: RegExp][] = [
    ['root', 'Operator-2026', /^BOOTSTRAP_ADMIN_EMAIL must be an e-mail address\.$/],
    ['root@example.com', 'operator-2026', /^BOOTSTRAP_ADMIN_PASSWORD must contain an upper-case letter\.$/],
    ['root@example.com', 'short', /^BOOTSTRAP_ADMIN_PASSWORD .*at least 8 characters.*\.$/],
  ];
  for (const [email, password, expectedMessage] of refused) {
    const config = { ...ctx.config, bootstrapAdmin: { email, password } };
    const error = await bootstrapAdmin({ ...ctx, config }).then(
      () => null,
      (error) => error,
    );
    t.ok(error instanceof ConfigError);
    t.match(error.message, expectedMessage);
    t.notMatch(error.message, password);
    t.equal(await ctx.db.$count(users), 0);
  }
});
