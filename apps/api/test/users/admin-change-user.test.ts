import { auditLog, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsAdmin } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { findCallerByToken, type Person, signUp, signUpAda, signUpAlice } from '../support/people.ts';
import { INVALID_IDS } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
let ada: Person;
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  await ctx.db.delete(auditLog);
  ada = await signUpAda(app);
  alice = await signUpAlice(app);
});

const patch = (id: number | string, payload: object, { headers }: Person = ada) =>
  app.inject({ method: 'PATCH', url: `/api/admin/users/${id}`, headers, payload });
const rowOf = async ({ id }: Person) =>
  (await ctx.db.select().from(users).where(eq(users.id, id)))[0] as typeof users.$inferSelect;
const changes = () => ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'user.changed'));

t.test('Role, trial and plan are changed, and nothing else', async (t) => {
  const before = await rowOf(alice);
  clock.advance(5000);
  const answer = await patch(alice.id, { role: 'ADMIN', trialEndsAt: '2027-01-01T00:00:00+01:00' });
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), {
    success: true,
    user: {
      id: alice.id,
      role: 'ADMIN',
      isActive: true,
      trialEndsAt: '2026-12-31T23:00:00.000Z',
      updatedAt: '2026-11-20T10:00:05.000Z',
    },
  });
  const trialEndsAt = new Date('2026-12-31T23:00:00Z');
  const updatedAt = new Date('2026-11-20T10:00:05Z');
  t.same(await rowOf(alice), { ...before, role: 'ADMIN', trialEndsAt, revision: 2, updatedAt });
  t.equal((await patch(alice.id, { plan: 'pro' })).statusCode, 200);
  t.equal((await patch(alice.id, { trialEndsAt: null })).json().user.trialEndsAt, null);
  t.match(await rowOf(alice), { plan: 'pro', trialEndsAt: null, name: 'Alice' });
});

t.test('A change is recorded with the admin, the values before and after, and the address', async (t) => {
  const headers = { ...ada.headers, 'x-request-id': 'change-1' };
  await patch(alice.id, { role: 'ADMIN', isActive: true }, { ...ada, headers });
  const [{ id: _id, ...entry } = {}] = await changes();
  t.same(entry, {
    at: START,
    kind: 'user.changed',
    actorId: ada.id,
    actorEmail: ada.email,
    userId: alice.id,
    details: { before: { role: 'USER' }, after: { role: 'ADMIN' } },
    address: '127.0.0.1',
    requestId: 'change-1',
  });
});

t.test('A change that changes nothing is not recorded', async (t) => {
  const before = await rowOf(alice);
  clock.advance(5000);
  for (const payload of [{}, { role: 'USER', isActive: true, plan: 'trial', trialEndsAt: before.trialEndsAt }]) {
    const answer = await patch(alice.id, payload);
    t.equal(answer.statusCode, 200);
    t.equal(answer.json().user.updatedAt, START.toISOString());
  }
  t.same(await rowOf(alice), before);
  t.ok(await findCallerByToken(ctx, alice.token), 'the session stays open');
  t.same(await changes(), []);
});

t.test('A changed role ends the sessions at once', async (t) => {
  await patch(alice.id, { role: 'ADMIN' });
  t.equal(await findCallerByToken(ctx, alice.token), null);
  t.equal((await app.inject({ url: '/api/user', headers: alice.headers })).statusCode, 401);
});

t.test('Deactivation ends the sessions at once, and activation restores none', async (t) => {
  const answer = await patch(alice.id, { isActive: false });
  t.match(answer.json().user, { id: alice.id, role: 'USER', isActive: false });
  t.equal((await app.inject({ url: '/api/user', headers: alice.headers })).statusCode, 401);
  t.equal((await patch(alice.id, { isActive: true })).json().user.isActive, true);
  t.equal(await findCallerByToken(ctx, alice.token), null);
});

t.test('The last active admin stays an admin, also by their own request', async (t) => {
  const resting = await signUp(app, { name: 'Bob', role: 'ADMIN' });
  await patch(resting.id, { isActive: false });
  for (const payload of [{ role: 'USER' }, { isActive: false }, { role: 'USER', plan: 'pro' }]) {
    const answer = await patch(ada.id, payload);
    t.equal(answer.statusCode, 409);
    t.same(answer.json(), { success: false, error: 'This is the last active admin.' });
  }
  t.match(await rowOf(ada), { role: 'ADMIN', isActive: true, plan: 'trial' });
  t.equal((await patch(ada.id, { plan: 'pro' })).statusCode, 200, 'another change is accepted');
});

t.test('An admin can be removed while another one stays', async (t) => {
  await signUp(app, { name: 'Bob', role: 'ADMIN' });
  t.equal((await patch(ada.id, { role: 'USER' })).statusCode, 200);
  t.equal((await rowOf(ada)).role, 'USER');
});

t.test('Of two admins who demote each other concurrently exactly one is demoted', async (t) => {
  for (let round = 0; round < 10; round++) {
    await ctx.db.delete(users);
    const [one, two] = [await signUpAda(app), await signUp(app, { name: 'Bob', role: 'ADMIN' })];
    const removal = round % 2 ? { role: 'USER' } : { isActive: false };
    const answers = await Promise.all([patch(two.id, removal, one), patch(one.id, removal, two)]);
    const statuses = answers.map(({ statusCode }) => statusCode);
    t.equal(statuses.filter((status) => status === 200).length, 1, String(statuses));
    t.ok(
      statuses.every((status) => [200, 401, 409].includes(status)),
      String(statuses),
    );
    const left = (await ctx.db.select().from(users)).filter(({ role, isActive }) => role === 'ADMIN' && isActive);
    t.equal(left.length, 1);
  }
});

t.test('Many admins who demote all others concurrently leave at least one', async (t) => {
  const admins = [ada];
  for (let n = 0; n < 5; n++) admins.push(await signUp(app, { name: `Bob ${n}`, role: 'ADMIN' }));
  await Promise.all(
    admins.flatMap((one) => admins.filter((other) => other !== one).map(({ id }) => patch(id, { role: 'USER' }, one))),
  );
  t.equal((await ctx.db.select().from(users)).filter(({ role }) => role === 'ADMIN').length, 1);
});

t.test('Fields that an admin cannot change are rejected by name, and nothing is changed', async (t) => {
  const before = await rowOf(alice);
  for (const [field, value] of [
    ['email', 'bob@example.com'],
    ['passwordHash', 'x'],
    ['id', 1],
    ['role', 'user'],
    ['role', null],
    ['isActive', 'false'],
    ['trialEndsAt', '2026-13-01'],
    ['plan', 'free'],
  ] as const) {
    const answer = await patch(alice.id, { isActive: false, [field]: value });
    t.equal(answer.statusCode, 400, field);
    t.match(answer.json(), { success: false, error: 'Validation error', details: { [field]: [String] } });
  }
  t.same(await rowOf(alice), before);
});

t.test('An unknown account is not found', async (t) => {
  for (const id of [...INVALID_IDS, '2147483647']) {
    t.equal((await patch(id, { plan: 'pro' })).statusCode, 404, id);
    t.equal((await patch(id, { isActive: false })).statusCode, 404, id);
  }
});

t.test('Changing an account needs an admin with the key', async (t) => {
  const request = { method: 'PATCH', url: `/api/admin/users/${alice.id}`, payload: { plan: 'pro' } } as const;
  await assertNeedsAdmin(t, app, request, { ada, alice });
  t.equal((await rowOf(alice)).plan, 'trial');
});
