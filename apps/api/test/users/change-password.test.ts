import { auditLog, mails, passwordResets, sessions, users } from '@carillon/db';
import { hash } from '@node-rs/argon2';
import { eq, isNull, sql } from 'drizzle-orm';
import t from 'tap';
import { composeReset, getReset } from '../../src/product/auth/password-reset.ts';
import { openSession } from '../../src/product/auth/sessions.ts';
import { changePassword } from '../../src/product/users/change-password.ts';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { deliverDueMails } from '../support/mails.ts';
import { findCallerByToken, PASSWORD, type Person, signUpAlice, signUpBob } from '../support/people.ts';
import { startMailServer } from '../support/servers/mail-server.ts';

const NEW = 'Another-2026';

const server = await startMailServer(t);
const { app, ctx, clock, logged } = await testContext(t, {
  env: { SMTP_URL: server.url, RATE_LIMIT_MULTIPLIER: '1000', LOG_LEVEL: 'trace' },
});
/** The same service with the real rate limits. */
const limited = { ...ctx, config: { ...ctx.config, rateLimitMultiplier: 1 } };
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  server.received.length = 0;
  await ctx.db.delete(mails);
  await ctx.db.delete(users);
  alice = await signUpAlice(app);
});

const change = (payload: object, { headers }: Pick<Person, 'headers'> = alice) =>
  app.inject({ method: 'POST', url: '/api/user/password', headers, payload });
const logIn = (password: string) =>
  app.inject({ method: 'POST', url: '/api/auth/login', payload: { email: alice.email, password } });
const statusOf = async (token: string) =>
  (await app.inject({ url: '/api/auth/session', headers: { authorization: `Bearer ${token}` } })).statusCode;
const callerOf = async ({ token }: Pick<Person, 'token'>) => {
  const caller = await findCallerByToken(ctx, token);
  if (!caller) throw new Error('The session has ended.');
  return caller;
};
const right = { currentPassword: PASSWORD, newPassword: NEW };
const wrong = { currentPassword: 'Wrong-2026', newPassword: NEW };

t.test('The new password is valid at once, and all other sessions end', async (t) => {
  const bob = await signUpBob(app);
  const { token: elsewhere } = await openSession(ctx, alice.id);
  clock.advance(1000);
  const answer = await change(right);
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), { success: true, message: 'Your password is changed. All other sessions are ended.' });
  t.equal(answer.headers['set-cookie'], undefined);
  t.same([await statusOf(alice.token), await statusOf(elsewhere), await statusOf(bob.token)], [200, 401, 200]);
  t.equal((await logIn(PASSWORD)).statusCode, 401);
  t.equal((await logIn(NEW)).statusCode, 200);
  const [user] = await ctx.db.select().from(users).where(eq(users.id, alice.id));
  t.match(user, { passwordHash: /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/, updatedAt: new Date(START.getTime() + 1000) });
});

t.test('The owner is notified by mail, and the audit log records the change', async (t) => {
  await ctx.db.delete(auditLog);
  await change(right);
  await deliverDueMails(ctx);
  t.match(server.received, [{ subject: 'Your password was changed', envelope: { to: [alice.email] } }]);
  t.match(await ctx.db.select().from(auditLog), [
    {
      kind: 'user.password_changed',
      actorId: alice.id,
      actorEmail: alice.email,
      userId: alice.id,
      address: '127.0.0.1',
      at: START,
    },
  ]);
});

t.test('Reset links are void', async (t) => {
  const issued = await composeReset(ctx, alice.email);
  const token = issued?.link.split('/').at(-1) as string;
  t.same(await getReset(ctx, token), { userId: alice.id });
  await change(right);
  await t.rejects(getReset(ctx, token), { message: 'Token já utilizado' });
  t.equal(await ctx.db.$count(passwordResets, isNull(passwordResets.usedAt)), 0);
});

t.test('A wrong current password is a validation error of that field, and changes nothing', async (t) => {
  const { token } = await openSession(ctx, alice.id);
  for (const currentPassword of ['Wrong-2026', 'x', PASSWORD.toLowerCase(), `${PASSWORD} `, 'x'.repeat(1024)]) {
    const answer = await change({ currentPassword, newPassword: NEW });
    t.equal(answer.statusCode, 400);
    t.match(answer.json(), { error: 'Validation error', details: { currentPassword: ['is wrong'] } });
  }
  t.equal(await statusOf(token), 200);
  t.equal((await logIn(PASSWORD)).statusCode, 200);
  t.equal(await ctx.db.$count(mails), 0);
});

t.test('The new password follows the rules of registration', async (t) => {
  for (const weak of ['Short1', 'nouppercase1', 'NOLOWERCASE1', 'NoDigitsHere', `Aa1${'x'.repeat(126)}`, 7, null]) {
    const answer = await change({ currentPassword: PASSWORD, newPassword: weak });
    t.equal(answer.statusCode, 400);
    t.same(Object.keys(answer.json().details), ['newPassword']);
  }
  t.same(Object.keys((await change({ newPassword: NEW })).json().details), ['currentPassword']);
  t.same(Object.keys((await change({ ...right, currentPassword: '' })).json().details), ['currentPassword']);
  t.same(Object.keys((await change({ ...right, email: 'x@example.com' })).json().details), ['email']);
  t.equal((await logIn(PASSWORD)).statusCode, 200);
});

t.test('The same password is rejected, in any normal form', async (t) => {
  const same = await change({ currentPassword: PASSWORD, newPassword: PASSWORD });
  t.equal(same.statusCode, 400);
  t.same(same.json().details, { newPassword: ['must differ from the current one'] });
  const wide = PASSWORD.replace('2', '２');
  t.same(Object.keys((await change({ currentPassword: PASSWORD, newPassword: wide })).json().details), ['newPassword']);
});

t.test('An account without a password is referred to the reset by mail', async (t) => {
  await ctx.db.update(users).set({ passwordHash: null });
  const answer = await change(right);
  t.equal(answer.statusCode, 409);
  t.same(answer.json(), {
    success: false,
    error: 'This account has no password yet. Ask for a link by mail to choose one.',
  });
});

t.test(
  '5 attempts in 15 minutes are checked, then even the right one is 429; a stranger’s account is not affected',
  async (t) => {
    const caller = await callerOf(alice);
    const attempt = (input: typeof right, who = caller) => changePassword(limited, who, input);
    for (let n = 1; n <= 5; n++) await t.rejects(attempt(wrong), { message: 'The request is not valid.' });
    const { token } = await openSession(ctx, alice.id);
    for (const who of [caller, await callerOf({ token })]) {
      const rejected = await attempt(right, who).catch((error) => error);
      t.match(rejected, { kind: 'rate_limited', details: { limit: 5, remaining: 0, resetIn: 900, retryAfter: 900 } });
    }
    t.equal(await attempt(right, await callerOf(await signUpBob(app))), undefined);
    clock.advance(15 * 60_000 - 1);
    t.match(await attempt(right).catch((error) => error), { kind: 'rate_limited' });
    clock.advance(1);
    t.equal(await attempt(right), undefined, 'until the window is over');
  },
);

t.test('Of many concurrent guesses at most 5 are checked', async (t) => {
  const caller = await callerOf(alice);
  const guesses = Array.from({ length: 30 }, (_, n) => ({ currentPassword: `Guess-${n}`, newPassword: NEW }));
  const ends = await Promise.all(
    guesses.map((guess) => changePassword(limited, caller, guess).catch((error) => error.kind)),
  );
  t.same(ends.toSorted(), [...Array(5).fill('invalid'), ...Array(25).fill('rate_limited')]);
});

t.test('A request that is rejected before the password is checked is not an attempt', async (t) => {
  const caller = await callerOf(alice);
  for (let n = 0; n < 9; n++) {
    const same = { currentPassword: PASSWORD, newPassword: PASSWORD };
    t.match(await changePassword(limited, caller, same).catch((error) => error), { kind: 'invalid' });
  }
  t.equal(await changePassword(limited, caller, right), undefined);
});

t.test('One of two concurrent changes succeeds', async (t) => {
  for (let round = 0; round < 4; round++) {
    const current = round === 0 ? PASSWORD : `Round-${round}`;
    const { token } = await openSession(ctx, alice.id);
    const callers = [await callerOf({ token }), await callerOf({ token })];
    const passwords = [`Round-${round + 1}`, `Other-${round + 1}`];
    const ends = await Promise.all(
      callers.map((caller, at) =>
        changePassword(ctx, caller, { currentPassword: current, newPassword: passwords[at] as string }).then(
          () => 'changed',
          (error) => error.details,
        ),
      ),
    );
    t.equal(ends.filter((end) => end === 'changed').length, 1);
    t.strictSame(
      ends.find((end) => end !== 'changed'),
      { currentPassword: ['is wrong'] },
    );
    const won = passwords[ends.indexOf('changed')] as string;
    t.equal((await logIn(won)).statusCode, 200);
    if (won.startsWith('Other')) {
      const next = await callerOf({ token });
      await changePassword(ctx, next, { currentPassword: won, newPassword: `Round-${round + 1}` });
    }
  }
});

t.test('No session survives a concurrent change, except the one that made it', async (t) => {
  const caller = await callerOf(alice);
  const turns = [right, { currentPassword: NEW, newPassword: PASSWORD }];
  for (let round = 0; round < 4; round++) {
    const input = turns[round % 2] as typeof right;
    const old = () => logIn(input.currentPassword);
    await Promise.all([old(), old(), changePassword(ctx, caller, input), old(), old()]);
    const left = await ctx.db.select({ id: sessions.id }).from(sessions).where(eq(sessions.userId, alice.id));
    t.same(left, [{ id: caller.sessionId }]);
  }
});

t.test('A sign-in that rehashes the password meanwhile does not prevent the change', async (t) => {
  const weak = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  for (let round = 0; round < 3; round++) {
    await ctx.db.update(users).set({ passwordHash: weak }).where(eq(users.id, alice.id));
    const [changed] = await Promise.all([change(right), logIn(PASSWORD), logIn(PASSWORD)]);
    t.equal(changed.statusCode, 200);
    t.equal((await logIn(NEW)).statusCode, 200);
  }
});

t.test('An account that was deactivated or deleted meanwhile is rejected', async (t) => {
  const caller = await callerOf(alice);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id));
  await t.rejects(changePassword(ctx, caller, right), { message: 'This account has been deleted.' });
  await ctx.db.delete(users).where(eq(users.id, alice.id));
  await t.rejects(changePassword(ctx, caller, right), {
    name: 'AppError',
    message: 'This account has been deleted.',
  });
});

t.test('Neither password is logged, nor stored except as its hash', async (t) => {
  await change(wrong);
  await change(right);
  const stored = [await ctx.db.select().from(auditLog), await ctx.db.select().from(mails)];
  for (const secret of [PASSWORD, NEW, wrong.currentPassword]) {
    t.notMatch(JSON.stringify(logged), secret);
    t.notMatch(JSON.stringify(stored), secret);
  }
});

t.test('Changing a password needs a session', async (t) => {
  await assertNeedsSession(t, app, { method: 'POST', url: '/api/user/password', payload: right });
  t.equal(await ctx.db.$count(users, sql`password_hash is not null`), 1);
});
