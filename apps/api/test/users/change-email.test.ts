import { auditLog, emailChanges, identities, mails, passwordResets, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { composeReset } from '../../src/product/auth/password-reset.ts';
import { changeProfile } from '../../src/product/users/write.ts';
import { testActions } from '../support/actions.ts';
import { START, testContext } from '../support/context.ts';
import { readQueuedTokens } from '../support/mails.ts';
import {
  findCallerByToken,
  PASSWORD,
  type Person,
  signUp,
  signUpAda,
  signUpAlice,
  signUpBob,
} from '../support/people.ts';

const HOUR_MS = 3_600_000;
const NEW = 'new@example.com';
const INVALID_LINK = 'This link is not valid: it was used, replaced by a newer one, or is older than an hour.';

const { app, ctx, clock, logged } = await testContext(t, {
  env: { BOOTSTRAP_ADMIN_EMAIL: 'root@example.com', BOOTSTRAP_ADMIN_PASSWORD: PASSWORD },
});
const actions = testActions(ctx);
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  for (const table of [mails, auditLog, users]) await ctx.db.delete(table);
  alice = await signUpAlice(app);
});

const patch = ({ headers }: Person, payload: object, { url = '/api/user/settings', to = app } = {}) =>
  to.inject({ method: 'PATCH', url, headers, payload });
const change = (person: Person, email: string, to = app) => patch(person, { email, currentPassword: PASSWORD }, { to });
const confirm = (token: string | undefined) =>
  app.inject({ method: 'POST', url: '/api/user/confirm-email', payload: { token } });
const lastTokenTo = async (recipient: string) => (await readQueuedTokens(ctx, recipient)).at(-1);
const rowOf = async ({ id }: Person) =>
  (await ctx.db.select().from(users).where(eq(users.id, id)))[0] as typeof users.$inferSelect;
const readUser = async ({ headers }: Person) =>
  (await app.inject({ url: '/api/user/settings', headers })).json().settings;
const logIn = async (email: string) =>
  (await app.inject({ method: 'POST', url: '/api/auth/login', payload: { email, password: PASSWORD } })).statusCode;

t.test('A stolen session cannot change the address: the current password is required', async (t) => {
  for (const url of ['/api/user/settings', '/api/user']) {
    for (const [currentPassword, message] of [
      [undefined, 'is required'],
      ['Wrong-2026', 'is wrong'],
    ] as const) {
      const answer = await patch(alice, { email: 'eve@example.com', currentPassword }, { url });
      t.equal(answer.statusCode, 400);
      t.same(answer.json().details, { currentPassword: [message] });
    }
  }
  t.same([await ctx.db.$count(mails), await ctx.db.$count(emailChanges)], [0, 0]);
  t.equal((await rowOf(alice)).email, alice.email);
});

t.test('A new address counts once the link that is mailed to it is opened', async (t) => {
  const answer = await change(alice, '  Alice.New@Example.COM ');
  t.equal(answer.statusCode, 200);
  t.match(answer.json().settings, { email: alice.email, pendingEmail: 'alice.new@example.com' });
  t.match(await readUser(alice), { email: alice.email, pendingEmail: 'alice.new@example.com' });
  t.same([await logIn('alice.new@example.com'), await logIn(alice.email)], [401, 200]);

  t.same((await confirm(await lastTokenTo('alice.new@example.com'))).json(), {
    success: true,
    message: 'Your e-mail address is changed. Sign in with the new one from now on.',
  });
  t.match(await rowOf(alice), { email: 'alice.new@example.com', emailVerifiedAt: START });
  t.match(await readUser(alice), { email: 'alice.new@example.com', pendingEmail: null }, 'the session continues');
  t.same([await logIn('ALICE.new@example.com'), await logIn(alice.email)], [200, 401]);
});

t.test('`PATCH /api/user` changes the address in the same way', async (t) => {
  const answer = await patch(alice, { name: 'Alicia', email: NEW, currentPassword: PASSWORD }, { url: '/api/user' });
  t.same(Object.keys(answer.json().user), ['id', 'name', 'timezone', 'updatedAt']);
  t.match(await readUser(alice), { email: alice.email, pendingEmail: NEW });
  t.equal((await confirm(await lastTokenTo(NEW))).statusCode, 200);
  t.equal((await rowOf(alice)).email, NEW);
  t.equal(await ctx.db.$count(identities), 0);
});

t.test('A server action changes the address once the present and then the new one have opened a link', async (t) => {
  t.match(await actions.updateProfile(alice.token, { email: NEW }), {
    success: true,
    data: { email: alice.email, pendingEmail: NEW },
  });
  t.same(await readQueuedTokens(ctx, NEW), [], 'a stolen session mails nothing to the new address');
  const approval = await lastTokenTo(alice.email);
  t.match((await confirm(approval)).json(), { message: /^The change is approved/ });
  t.match(await readUser(alice), { email: alice.email, pendingEmail: NEW });
  t.equal((await confirm(approval)).statusCode, 400);
  t.equal((await confirm(await lastTokenTo(NEW))).statusCode, 200);
  t.match(await readUser(alice), { email: NEW, pendingEmail: null });
});

t.test('An account without a password approves a change at its present address', async (t) => {
  await ctx.db.update(users).set({ passwordHash: null });
  t.equal((await patch(alice, { email: NEW })).statusCode, 200);
  t.same(await readQueuedTokens(ctx, NEW), []);
  t.equal((await confirm(await lastTokenTo(alice.email))).statusCode, 200);
  t.equal((await confirm(await lastTokenTo(NEW))).statusCode, 200);
  t.equal((await rowOf(alice)).email, NEW);
});

t.test('The present address is notified of the request and of the change, and the audit log has both', async (t) => {
  await change(alice, NEW);
  await confirm(await lastTokenTo(NEW));
  const notices = await ctx.db.select().from(mails).where(eq(mails.recipient, alice.email)).orderBy(mails.createdAt);
  t.same(notices.map(({ subject }) => subject).sort(), [
    'The e-mail address of your account was changed',
    'Your account is about to get a new e-mail address',
  ]);
  const entries = await ctx.db.select().from(auditLog).where(eq(auditLog.userId, alice.id)).orderBy(auditLog.id);
  const details = { before: { email: alice.email }, after: { email: NEW } };
  const actor = { actorId: alice.id, actorEmail: alice.email, address: '127.0.0.1', details };
  t.match(entries.slice(-2), [
    { kind: 'user.email_change_requested', ...actor },
    { kind: 'user.email_changed', ...actor },
  ]);
});

t.test('A link works once, for an hour, and is stored as a hash only', async (t) => {
  await change(alice, NEW);
  const token = await lastTokenTo(NEW);
  t.match(token, /^[0-9a-f]{64}$/);
  t.notMatch(
    JSON.stringify([await ctx.db.select().from(emailChanges), await ctx.db.select().from(mails), logged]),
    token,
  );
  clock.advance(HOUR_MS);
  const late = await confirm(token);
  t.same([late.statusCode, late.json()], [400, { success: false, error: INVALID_LINK }]);
  t.match(await readUser(alice), { email: alice.email, pendingEmail: null });
  await change(alice, NEW);
  const again = await lastTokenTo(NEW);
  const answers = await Promise.all(Array.from({ length: 8 }, () => confirm(again)));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, ...Array(7).fill(400)]);
  for (const wrong of ['', 'x', 'a'.repeat(64)]) t.equal((await confirm(wrong)).json().error, INVALID_LINK);
});

t.test('A newer request, the present address and a deactivation make a link invalid', async (t) => {
  const admin = await signUpAda(app);
  const setActive = (isActive: boolean) =>
    app.inject({ method: 'PATCH', url: `/api/admin/users/${alice.id}`, headers: admin.headers, payload: { isActive } });
  const ends: Record<string, () => Promise<unknown>> = {
    'a newer request': () => change(alice, 'newer@example.com'),
    'the present address': () => patch(alice, { email: alice.email }),
    deactivation: async () =>
      t.same([(await setActive(false)).statusCode, (await setActive(true)).statusCode], [200, 200]),
  };
  for (const [name, end] of Object.entries(ends)) {
    t.equal((await change(alice, `${name.replaceAll(' ', '-')}@example.com`)).statusCode, 200, name);
    const token = await lastTokenTo(`${name.replaceAll(' ', '-')}@example.com`);
    await end();
    t.equal((await confirm(token)).statusCode, 400, name);
  }
});

t.test('A changed or reset password makes a link invalid', async (t) => {
  await change(alice, NEW);
  const first = await lastTokenTo(NEW);
  const payload = { currentPassword: PASSWORD, newPassword: 'Another-2027' };
  const url = '/api/user/password';
  t.equal((await app.inject({ method: 'POST', url, headers: alice.headers, payload })).statusCode, 200);
  t.equal((await confirm(first)).statusCode, 400);
  await patch(alice, { email: NEW, currentPassword: 'Another-2027' });
  const second = await lastTokenTo(NEW);
  t.not(second, first);
  const reset = (await composeReset(ctx, alice.email))?.link.split('/').at(-1);
  const chosen = { token: reset, newPassword: PASSWORD };
  t.equal((await app.inject({ method: 'POST', url: '/api/auth/reset-password', payload: chosen })).statusCode, 200);
  t.equal((await confirm(second)).statusCode, 400);
  t.equal((await rowOf(alice)).email, alice.email);
});

t.test('Reset links that were sent to the old address are void once it is replaced', async (t) => {
  const token = (await composeReset(ctx, alice.email))?.link.split('/').at(-1);
  const validate = () => app.inject({ url: `/api/auth/validate-reset-token?token=${token}` });
  await change(alice, NEW);
  t.equal((await validate()).statusCode, 200);
  await confirm(await lastTokenTo(NEW));
  t.same((await validate()).json(), { valid: false, error: 'Token já utilizado' });
  t.equal(await ctx.db.$count(passwordResets), 1);
});

t.test('The current address, in any spelling, changes nothing and needs no password', async (t) => {
  await ctx.db.update(users).set({ emailVerifiedAt: START });
  for (let n = 0; n < 10; n++) t.equal((await patch(alice, { email: ' ALICE@example.com' })).statusCode, 200);
  t.match(await rowOf(alice), { email: alice.email, emailVerifiedAt: START });
  t.equal(await ctx.db.$count(mails), 0);
});

t.test('A taken address is rejected, with the whole change', async (t) => {
  const bob = await signUpBob(app);
  const answer = await patch(alice, {
    email: 'Bob@example.com',
    currentPassword: PASSWORD,
    notificationPreferences: { email: false },
    webhookUrl: 'https://a.example/',
  });
  t.equal(answer.statusCode, 409);
  t.same(answer.json(), { success: false, error: 'This e-mail address is already registered.' });
  t.match(await rowOf(alice), { email: alice.email, notifyEmail: true, notificationUrl: null });
  t.match(await rowOf(bob), { email: bob.email });
  t.equal(await ctx.db.$count(mails), 0);
});

t.test('One of several concurrent confirmations and registrations of an address succeeds', async (t) => {
  const people = await Promise.all(['Alice', 'Bob', 'Ada', 'Alice', 'Bob'].map((name) => signUp(app, { name })));
  for (const person of people) {
    t.equal((await change(person, NEW)).statusCode, 200);
    clock.advance(1);
  }
  const tokens = await readQueuedTokens(ctx, NEW);
  t.equal(tokens.length, 5);
  const payload = { name: 'Ada', email: NEW, password: PASSWORD };
  const register = app.inject({ method: 'POST', url: '/api/auth/register', payload });
  const statuses = (await Promise.all([...tokens.map(confirm), register])).map(({ statusCode }) => statusCode).sort();
  t.match(statuses.slice(1), [409, 409, 409, 409, 409]);
  t.ok([200, 201].includes(statuses[0] ?? 0), String(statuses[0]));
  t.equal(await ctx.db.$count(users, eq(users.email, NEW)), 1);
});

t.test('An address can be requested 5 times an hour, whether or not it is taken', async (t) => {
  const own = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const [eve, bob] = [await signUpAlice(own.app), await signUpBob(own.app)];
  for (const [email, status] of [
    ['a@example.com', 200],
    [bob.email, 409],
    ['b@example.com', 200],
    [bob.email, 409],
    ['c@example.com', 200],
    ['d@example.com', 429],
    [bob.email, 429],
  ] as const) {
    t.equal((await change(eve, email, own.app)).statusCode, status, email);
  }
  t.equal((await change(bob, 'e@example.com', own.app)).statusCode, 200, 'other users are not affected');
  own.clock.advance(HOUR_MS);
  t.equal((await change(eve, 'd@example.com', own.app)).statusCode, 200);
});

t.test('5 wrong passwords in 15 minutes are 429, together with those of a changed password', async (t) => {
  const own = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const eve = await signUpAlice(own.app);
  const guess = (currentPassword: string) => patch(eve, { email: NEW, currentPassword }, { to: own.app });
  for (let n = 0; n < 5; n++) t.equal((await guess(`Wrong-${n}`)).statusCode, 400);
  t.equal((await guess(PASSWORD)).statusCode, 429);
});

t.test('An address gets 5 confirmation mails a day, from all accounts together', async (t) => {
  const own = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  for (let n = 0; n < 6; n++) {
    const person = await signUp(own.app, { name: 'Alice' });
    t.equal((await change(person, 'victim@example.com', own.app)).statusCode, n < 5 ? 200 : 429);
  }
  t.equal(await own.ctx.db.$count(mails, eq(mails.recipient, 'victim@example.com')), 5);
});

t.test('The address of `BOOTSTRAP_ADMIN_EMAIL` stays with its account', async (t) => {
  const root = await signUp(app, { name: 'Ada', email: 'root@example.com', role: 'ADMIN' });
  const answer = await change(root, 'ada@example.com');
  t.equal(answer.statusCode, 409);
  t.match(answer.json().error, /BOOTSTRAP_ADMIN_EMAIL/);
  t.equal((await change(root, 'root@example.com')).statusCode, 200);
});

t.test('The profile is changed with its address and preferences in one transaction', async (t) => {
  const bob = await signUpBob(app);
  const caller = await findCallerByToken(ctx, alice.token);
  const input = { name: 'Alicia', timezone: 'Europe/Lisbon', notificationPreferences: { email: false } };
  clock.advance(1000);
  const change = { ...input, email: 'alicia@example.com', currentPassword: PASSWORD };
  t.same((await changeProfile(ctx, caller!, change)).user, {
    ...{ id: alice.id, name: 'Alicia', email: alice.email, pendingEmail: 'alicia@example.com' },
    ...{ timezone: 'Europe/Lisbon', notificationPreferences: { email: false, webhook: true } },
    updatedAt: new Date(START.getTime() + 1000),
  });
  const before = await rowOf(alice);
  const taken = { name: 'Bobby', email: bob.email, currentPassword: PASSWORD };
  await t.rejects(changeProfile(ctx, caller!, taken), /already registered/);
  t.same(await rowOf(alice), before);
});
