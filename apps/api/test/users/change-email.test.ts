import { auditLog, identities, mails, passwordResets, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { composeReset } from '../../src/auth/password-reset.ts';
import { decryptBody } from '../../src/mail/queue.ts';
import { changeProfile } from '../../src/users/write.ts';
import { START, testContext } from '../support/context.ts';
import { findCallerByToken, PASSWORD, type Person, signUp, signUpAlice, signUpBob } from '../support/people.ts';

const { app, ctx, clock } = await testContext(t, {
  env: { BOOTSTRAP_ADMIN_EMAIL: 'root@example.com', BOOTSTRAP_ADMIN_PASSWORD: PASSWORD },
});
t.beforeEach(async () => {
  clock.set(START);
  for (const table of [mails, auditLog, users]) await ctx.db.delete(table);
});

const change = ({ headers }: Person, email: string, to = app) =>
  to.inject({ method: 'PATCH', url: '/api/user/settings', headers, payload: { email } });
const rowOf = async ({ id }: Person) =>
  (await ctx.db.select().from(users).where(eq(users.id, id)))[0] as typeof users.$inferSelect;
const logIn = async (email: string) =>
  (await app.inject({ method: 'POST', url: '/api/auth/login', payload: { email, password: PASSWORD } })).statusCode;

t.test('The new address signs in, in any letter case, and the old one does not', async (t) => {
  const alice = await signUpAlice(app);
  await ctx.db.update(users).set({ emailVerifiedAt: START });
  const answer = await change(alice, '  Alice.New@Example.COM ');
  t.equal(answer.statusCode, 200);
  t.equal(answer.json().settings.email, 'alice.new@example.com');
  t.match(await rowOf(alice), { email: 'alice.new@example.com', emailVerifiedAt: null });
  t.same([await logIn('alice.new@example.com'), await logIn(alice.email)], [200, 401]);
  t.equal((await app.inject({ url: '/api/user', headers: alice.headers })).json().user.email, 'alice.new@example.com');
});

t.test('The old address is notified, and the audit log has both addresses and the origin', async (t) => {
  const alice = await signUpAlice(app);
  await change(alice, 'new@example.com');
  const [mail, ...rest] = await ctx.db.select().from(mails);
  t.same(rest, []);
  t.match(mail, { recipient: alice.email, userId: alice.id, subject: /address.*changed/ });
  t.match(decryptBody(ctx, mail?.id ?? '', mail?.bodySealed ?? ''), /another e-mail address[\s\S]*If it was not you/);
  const entries = await ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'user.email_changed'));
  t.match(entries, [
    {
      ...{ actorId: alice.id, actorEmail: alice.email, userId: alice.id, address: '127.0.0.1' },
      details: { before: { email: alice.email }, after: { email: 'new@example.com' } },
    },
  ]);
});

t.test('Reset links that were sent to the old address are void', async (t) => {
  const alice = await signUpAlice(app);
  const reset = await composeReset(ctx, alice.email);
  const token = reset?.link.split('/').at(-1);
  const validate = () => app.inject({ url: `/api/auth/validate-reset-token?token=${token}` });
  t.equal((await validate()).statusCode, 200);
  await change(alice, 'new@example.com');
  t.same((await validate()).json(), { valid: false, error: 'Token já utilizado' });
  t.equal(await ctx.db.$count(passwordResets), 1);
});

t.test('The current address, in any spelling, changes nothing', async (t) => {
  const alice = await signUpAlice(app);
  await ctx.db.update(users).set({ emailVerifiedAt: START });
  for (let n = 0; n < 10; n++) t.equal((await change(alice, ' ALICE@example.com')).statusCode, 200);
  t.match(await rowOf(alice), { email: alice.email, emailVerifiedAt: START });
  const changed = await ctx.db.$count(auditLog, eq(auditLog.kind, 'user.email_changed'));
  t.same([await ctx.db.$count(mails), changed], [0, 0]);
});

t.test('A taken address is rejected, with the whole change', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const payload = {
    email: 'Bob@example.com',
    notificationPreferences: { email: false },
    webhookUrl: 'https://a.example/',
  };
  const answer = await app.inject({ method: 'PATCH', url: '/api/user/settings', headers: alice.headers, payload });
  t.equal(answer.statusCode, 409);
  t.same(answer.json(), { success: false, error: 'This e-mail address is already registered.' });
  t.match(await rowOf(alice), { email: alice.email, notifyEmail: true, notificationUrl: null });
  t.match(await rowOf(bob), { email: bob.email });
  t.equal(await ctx.db.$count(mails), 0);
});

t.test('One of several concurrent changes to the same address succeeds', async (t) => {
  const people = await Promise.all(['Alice', 'Bob', 'Ada', 'Alice', 'Bob'].map((name) => signUp(app, { name })));
  const register = app.inject({
    method: 'POST',
    url: '/api/auth/register',
    payload: { name: 'Ada', email: 'wanted@example.com', password: PASSWORD },
  });
  const answers = await Promise.all([...people.map((person) => change(person, 'wanted@example.com')), register]);
  const statuses = answers.map(({ statusCode }) => statusCode).sort();
  t.match(statuses.slice(1), [409, 409, 409, 409, 409]);
  t.ok([200, 201].includes(statuses[0] ?? 0), String(statuses[0]));
  t.equal(await ctx.db.$count(users, eq(users.email, 'wanted@example.com')), 1);
});

t.test('An address can be requested 5 times an hour, whether or not it is taken', async (t) => {
  const own = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const [alice, bob] = [await signUpAlice(own.app), await signUpBob(own.app)];
  for (const [email, status] of [
    ['a@example.com', 200],
    [bob.email, 409],
    ['b@example.com', 200],
    [bob.email, 409],
    ['c@example.com', 200],
    ['d@example.com', 429],
    [bob.email, 429],
    ['c@example.com', 200],
  ] as const) {
    t.equal((await change(alice, email, own.app)).statusCode, status, email);
  }
  t.equal((await change(bob, 'e@example.com', own.app)).statusCode, 200, 'other users are not affected');
  own.clock.advance(3_600_000);
  t.equal((await change(alice, 'd@example.com', own.app)).statusCode, 200);
});

t.test('The address of `BOOTSTRAP_ADMIN_EMAIL` stays with its account', async (t) => {
  const root = await signUp(app, { name: 'Ada', email: 'root@example.com', role: 'ADMIN' });
  const answer = await change(root, 'ada@example.com');
  t.equal(answer.statusCode, 409);
  t.match(answer.json().error, /BOOTSTRAP_ADMIN_EMAIL/);
  t.equal((await change(root, 'root@example.com')).statusCode, 200);
});

t.test('The profile is changed with its address and preferences in one transaction', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const caller = await findCallerByToken(ctx, alice.token);
  const input = { name: 'Alicia', timezone: 'Europe/Lisbon', notificationPreferences: { email: false } };
  clock.advance(1000);
  t.same(await changeProfile(ctx, caller!, { ...input, email: 'alicia@example.com' }), {
    ...{ id: alice.id, name: 'Alicia', email: 'alicia@example.com', timezone: 'Europe/Lisbon' },
    ...{ notificationPreferences: { email: false, webhook: true }, updatedAt: new Date(START.getTime() + 1000) },
  });
  const before = await rowOf(alice);
  await t.rejects(changeProfile(ctx, caller!, { name: 'Bobby', email: bob.email }), /already registered/);
  t.same(await rowOf(alice), before);
});

t.test('`PATCH /api/user` accepts no address, and its response has the fields as before', async (t) => {
  const alice = await signUpAlice(app);
  const patch = (payload: object) => app.inject({ method: 'PATCH', url: '/api/user', headers: alice.headers, payload });
  t.equal((await patch({ email: 'a@example.com' })).statusCode, 400);
  t.equal((await patch({ notificationPreferences: {} })).statusCode, 400);
  t.same(Object.keys((await patch({ name: 'Alicia' })).json().user), ['id', 'name', 'timezone', 'updatedAt']);
  t.equal(await ctx.db.$count(identities), 0);
});
