import { sessions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { hashPassword } from '../../src/product/auth/passwords.ts';
import { endUserSessions, openSession } from '../../src/product/auth/sessions.ts';
import { logIn } from '../../src/product/auth/write.ts';
import { inTransaction } from '../../src/transaction.ts';
import { testContext } from '../support/context.ts';
import { untilBlocked } from '../support/database.ts';
import { findCallerByToken, PASSWORD, signUpAlice, signUpBob } from '../support/people.ts';

const post = { method: 'POST', url: '/api/auth/logout' } as const;

const { app, ctx } = await testContext(t);
t.beforeEach(async () => {
  await ctx.db.delete(users);
});

t.test('A sign-out ends this session, clears the cookie and keeps the others', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const other = await openSession(ctx, alice.id);
  const answer = await app.inject({ ...post, headers: { cookie: `local-session=${alice.token}` } });
  t.equal(answer.statusCode, 200);
  t.match(answer.json(), { success: true, message: /.+/ });
  t.equal(answer.headers['set-cookie'], 'local-session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax');
  t.equal(await findCallerByToken(ctx, alice.token), null);
  t.equal((await findCallerByToken(ctx, other.token))?.id, alice.id);
  t.equal((await findCallerByToken(ctx, bob.token))?.id, bob.id);
  t.equal(await ctx.db.$count(sessions), 2, 'its row is gone');
});

t.test('A sign-out needs a session, and works once', async (t) => {
  const { headers } = await signUpAlice(app);
  t.equal((await app.inject({ ...post, headers })).statusCode, 200);
  for (const attempt of [post, { ...post, headers }]) {
    const answer = await app.inject(attempt);
    t.equal(answer.statusCode, 401);
    t.match(answer.json(), { success: false, error: 'Unauthorized', message: /.+/ });
  }
});

t.test('All sessions of a user can be ended except the current one', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const second = await openSession(ctx, alice.id);
  const third = await openSession(ctx, alice.id);
  await endUserSessions(ctx, alice.id, { except: second.sessionId });
  t.same(
    await Promise.all(
      [alice.token, second.token, third.token].map((token) => findCallerByToken(ctx, token).then(Boolean)),
    ),
    [false, true, false],
  );
  await endUserSessions(ctx, alice.id);
  t.equal(await findCallerByToken(ctx, second.token), null);
  t.ok(await findCallerByToken(ctx, bob.token));
});

t.test('A sign-in with the old password cannot outrun a password change or a deactivation', async (t) => {
  const alice = await signUpAlice(app);
  const attempt = () => logIn(ctx, { email: alice.email, password: PASSWORD }).catch((error) => error.kind);
  const passwordHash = await hashPassword('Another-2026');
  const during = async (change: Partial<typeof users.$inferInsert>) => {
    let signingIn: Promise<unknown> | undefined;
    await inTransaction(ctx, async (tx) => {
      await tx.db.update(users).set(change).where(eq(users.id, alice.id));
      await endUserSessions(tx, alice.id);
      signingIn = attempt();
      // The sign-in has verified the old password and waits for the row.
      await untilBlocked(ctx.db);
    });
    return signingIn;
  };
  t.equal(await during({ isActive: false }), 'deactivated');
  await ctx.db.update(users).set({ isActive: true });
  t.equal(await during({ passwordHash }), 'wrong_credentials');
  t.equal(await ctx.db.$count(sessions), 0);
});
