import { auditLog, mails, sessions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { composeReset } from '../../src/product/auth/password-reset.ts';
import { START, testContext } from '../support/context.ts';
import { createKey, type TestKey } from '../support/keys.ts';
import { deliverDueMails } from '../support/mails.ts';
import { PASSWORD, type Person, signUpAlice, signUpBob } from '../support/people.ts';
import { getResetToken, startMailServer } from '../support/servers/mail-server.ts';

const HOUR_MS = 3_600_000;
const NEW = 'Another-2026';

const server = await startMailServer(t);
const { app, ctx, clock, logged } = await testContext(t, {
  env: { SMTP_URL: server.url, RATE_LIMIT_MULTIPLIER: '1000', LOG_LEVEL: 'trace' },
});
t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  server.received.length = 0;
  await ctx.db.delete(mails);
  await ctx.db.delete(users);
});

const reset = (token: unknown, newPassword: unknown = NEW) =>
  app.inject({ method: 'POST', url: '/api/auth/reset-password', payload: { token, newPassword } as object });
const validate = (token: string) => app.inject({ url: '/api/auth/validate-reset-token', query: { token } });
const logIn = (password: string) =>
  app.inject({ method: 'POST', url: '/api/auth/login', payload: { email: 'alice@example.com', password } });

async function tokenOf({ email }: Person): Promise<string> {
  const issued = await composeReset(ctx, email);
  return getResetToken({ text: issued?.link });
}

/** The answers of both endpoints for a token. */
async function readAnswers(token: string) {
  const [validated, submitted] = [await validate(token), await reset(token)];
  return [validated.statusCode, validated.json(), submitted.statusCode, submitted.json()];
}

t.test('A valid token sets the password and ends every session', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  await logIn(PASSWORD);
  await app.inject({ method: 'POST', url: '/api/auth/forgot-password', payload: { email: alice.email } });
  await deliverDueMails(ctx);
  const answer = await reset(getResetToken(server.received[0] ?? {}));
  t.same(
    [answer.statusCode, answer.json()],
    [200, { success: true, message: 'Your password is changed. Sign in with the new one.' }],
  );
  t.equal(await ctx.db.$count(sessions, eq(sessions.userId, alice.id)), 0);
  t.equal((await app.inject({ url: '/api/auth/session', headers: alice.headers })).statusCode, 401);
  t.equal((await app.inject({ url: '/api/auth/session', headers: bob.headers })).statusCode, 200, 'a stranger’s stays');
  t.equal((await logIn(PASSWORD)).statusCode, 401);
  t.equal((await logIn(NEW)).statusCode, 200);
});

t.test('A reset keeps the API keys of an account, and deletes them if its address was never verified', async (t) => {
  const [alice, bob] = [await signUpAlice(app), await signUpBob(app)];
  await ctx.db.update(users).set({ emailVerifiedAt: START }).where(eq(users.id, bob.id));
  const keys = { alice: await createKey(app, alice), bob: await createKey(app, bob) };
  for (const person of [alice, bob]) t.equal((await reset(await tokenOf(person))).statusCode, 200);
  const ask = ({ headers }: TestKey) => app.inject({ url: '/api/tasks', headers });
  t.equal((await ask(keys.alice)).statusCode, 401, 'another person may have registered the address');
  t.equal((await ask(keys.bob)).statusCode, 200);
});

t.test('The mail about a reset says whether API keys still work, were deleted, or did not exist', async (t) => {
  const [alice, bob] = [await signUpAlice(app), await signUpBob(app)];
  await createKey(app, alice);
  await deliverDueMails(ctx);
  const readMailOf = async (person: Person) => {
    server.received.length = 0;
    await reset(await tokenOf(person));
    await deliverDueMails(ctx);
    return server.received[0]?.text ?? '';
  };
  const first = await readMailOf(alice);
  t.match(first, 'Its API keys were deleted');
  t.notMatch(first, 'still work');
  const second = await readMailOf(alice);
  t.match(second, 'API keys still work', 'the first reset has verified the address');
  t.notMatch(second, 'deleted');
  const ofBob = await readMailOf(bob);
  t.match(ofBob, 'was changed');
  t.notMatch(ofBob, 'API keys', 'an account without a key');
});

t.test('The owner is notified by mail, and the audit log has an entry', async (t) => {
  const alice = await signUpAlice(app);
  await ctx.db.delete(auditLog);
  await reset(await tokenOf(alice));
  await deliverDueMails(ctx);
  t.match(server.received, [{ subject: 'Your password was changed', envelope: { to: [alice.email] } }]);
  t.match(await ctx.db.select().from(auditLog), [
    { kind: 'user.password_reset', actorId: alice.id, userId: alice.id, address: '127.0.0.1', at: START },
  ]);
});

t.test('A token works once', async (t) => {
  const token = await tokenOf(await signUpAlice(app));
  await reset(token);
  const error = 'Token já utilizado';
  t.same(await readAnswers(token), [400, { valid: false, error }, 400, { success: false, error }]);
  clock.advance(2 * HOUR_MS);
  t.same(
    await readAnswers(token),
    [400, { valid: false, error }, 400, { success: false, error }],
    'and a used one stays used',
  );
  t.equal((await logIn(NEW)).statusCode, 200);
});

t.test('Of 20 concurrent submissions exactly one succeeds, and its password is set', async (t) => {
  const token = await tokenOf(await signUpAlice(app));
  const passwords = Array.from({ length: 20 }, (_, n) => `Another-2026-${n}`);
  const answers = await Promise.all(passwords.map((password) => reset(token, password)));
  const won = answers.flatMap(({ statusCode }, at) => (statusCode === 200 ? [passwords[at] as string] : []));
  t.equal(won.length, 1);
  const lost = answers.filter(({ statusCode }) => statusCode !== 200);
  t.same(new Set(lost.map(({ body }) => body)), new Set(['{"success":false,"error":"Token já utilizado"}']));
  t.equal((await logIn(won[0] as string)).statusCode, 200);
});

t.test('No session survives a concurrent reset', async (t) => {
  const alice = await signUpAlice(app);
  for (let round = 0; round < 5; round++) {
    const [from, to] = round % 2 === 0 ? [PASSWORD, NEW] : [NEW, PASSWORD];
    const token = await tokenOf(alice);
    await Promise.all([logIn(from), logIn(from), reset(token, to), logIn(from), logIn(from)]);
    t.equal(await ctx.db.$count(sessions, eq(sessions.userId, alice.id)), 0);
  }
});

t.test('The new password follows the rules of registration, and an invalid one keeps the token valid', async (t) => {
  const token = await tokenOf(await signUpAlice(app));
  for (const weak of [
    'Short1',
    'nouppercase1',
    'NOLOWERCASE1',
    'NoDigitsHere',
    `Aa1${'x'.repeat(126)}`,
    12345678,
    null,
  ]) {
    const answer = await reset(token, weak);
    t.equal(answer.statusCode, 400);
    t.match(answer.json(), { success: false, error: 'Validation error', details: { newPassword: [/./] } });
  }
  t.equal((await reset(token)).statusCode, 200);
});

t.test('Missing and unknown fields are validation errors', async (t) => {
  const ask = (payload: object) => app.inject({ method: 'POST', url: '/api/auth/reset-password', payload });
  t.same(Object.keys((await ask({ newPassword: NEW })).json().details), ['token']);
  t.same(Object.keys((await ask({ token: 'x' })).json().details), ['newPassword']);
  t.same(Object.keys((await ask({ token: 'x', newPassword: NEW, role: 'ADMIN' })).json().details), ['role']);
  for (const query of ['', '?token=a&token=b']) {
    const answer = await app.inject({ url: `/api/auth/validate-reset-token${query}` });
    t.strictSame([answer.statusCode, answer.json()], [400, { valid: false, error: 'Token inválido' }]);
  }
});

t.test('Neither password nor token is logged', async (t) => {
  const token = await tokenOf(await signUpAlice(app));
  await validate(token);
  await reset(token);
  await reset(token);
  for (const secret of [token, NEW]) t.notMatch(JSON.stringify(logged), secret);
});
