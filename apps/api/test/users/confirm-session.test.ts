import { sessions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertConfirmed, confirmSession } from '../../src/product/auth/confirm-session.ts';
import { hashPassword } from '../../src/product/auth/passwords.ts';
import { testContext } from '../support/context.ts';
import { findCallerByToken, PASSWORD, type Person, signUp } from '../support/people.ts';

const { app, ctx, clock } = await testContext(t);

const NOT_CONFIRMED = { message: 'Confirm with your password first.' };

async function findCaller({ token }: Person) {
  const caller = await findCallerByToken(ctx, token);
  if (!caller) throw new Error('The session has ended.');
  return caller;
}

t.test('A session is confirmed for 15 minutes from its start, and again from the password', async (t) => {
  const alice = await signUp(app);
  assertConfirmed(ctx, await findCaller(alice));
  clock.advance(15 * 60_000);
  const stale = await findCaller(alice);
  t.throws(() => assertConfirmed(ctx, stale), NOT_CONFIRMED);
  const until = await confirmSession(ctx, stale, PASSWORD);
  t.equal(until.getTime(), ctx.now().getTime() + 15 * 60_000);
  clock.set(new Date(until.getTime() - 1));
  assertConfirmed(ctx, await findCaller(alice));
  clock.set(until);
  const later = await findCaller(alice);
  t.throws(() => assertConfirmed(ctx, later), NOT_CONFIRMED);
});

t.test('An API key is never confirmed', async (t) => {
  const alice = await signUp(app);
  const caller = await findCaller(alice);
  const withKey = { ...caller, sessionId: null, confirmedAt: null };
  t.throws(() => assertConfirmed(ctx, withKey), NOT_CONFIRMED);
  await t.rejects(confirmSession(ctx, withKey, PASSWORD), { message: /API keys/ });
});

t.test('A session that ended meanwhile is not confirmed', async (t) => {
  const alice = await signUp(app);
  const caller = await findCaller(alice);
  await ctx.db.delete(sessions).where(eq(sessions.userId, alice.id));
  await t.rejects(confirmSession(ctx, caller, PASSWORD), { message: /Sign in first/ });
});

t.test('An account without a password, and one with another one, are not confirmed', async (t) => {
  const alice = await signUp(app);
  const caller = await findCaller(alice);
  const change = (passwordHash: string | null) =>
    ctx.db.update(users).set({ passwordHash }).where(eq(users.id, alice.id));
  await change(await hashPassword('Another-2026'));
  await t.rejects(confirmSession(ctx, caller, PASSWORD), { message: 'The request is not valid.' });
  await change(null);
  await t.rejects(confirmSession(ctx, caller, PASSWORD), { message: /no password/ });
  const [session] = await ctx.db.select().from(sessions).where(eq(sessions.userId, alice.id));
  t.equal(session?.confirmedAt, null);
});
