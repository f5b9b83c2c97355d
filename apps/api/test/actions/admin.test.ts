import { auditLog, coupons, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import {
  FORBIDDEN,
  getData,
  notFoundError,
  TASK,
  testActions,
  UNAUTHORIZED,
  validationError,
} from '../support/actions.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp, signUpAda, signUpAlice } from '../support/people.ts';

const { app, ctx, clock, logged } = await testContext(t);
const actions = testActions(ctx);
let ada: Person;
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  await ctx.db.delete(users);
  await ctx.db.delete(coupons);
  await ctx.db.delete(auditLog);
  ada = await signUpAda(app);
  alice = await signUpAlice(app);
});

t.test('getSystemStats counts users, tasks and executions', async (t) => {
  const { id } = await getData(actions.createTask(alice.token, TASK));
  await getData(actions.createTask(alice.token, { ...TASK, active: false }));
  await getData(actions.executeTask(alice.token, id));
  t.same(await getData(actions.getSystemStats(ada.token)), {
    users: { total: 2, active: 2, new24h: 2 },
    tasks: { total: 2, active: 1, paused: 1 },
    executions: { last24h: 1, success: 0, failed: 0, successRate: 0 },
  });
});

t.test('listUsers pages from 1, the newest account first', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  const page = async (input?: object) => {
    const { users, ...rest } = await getData(actions.listUsers(ada.token, input));
    return { ids: users.map(({ id }) => id), ...rest };
  };
  const ids = [carol, alice, ada].map(({ id }) => String(id));
  t.same(await page(), { ids, total: 3, page: 1, pages: 1 });
  t.same(await page({ page: 1, limit: 2 }), { ids: ids.slice(0, 2), total: 3, page: 1, pages: 2 });
  t.same(await page({ page: 2, limit: 2 }), { ids: ids.slice(2), total: 3, page: 2, pages: 2 });
  t.same(await page({ page: 2_147_483_647, limit: 100 }), { ids: [], total: 3, page: 2_147_483_647, pages: 1 });
  t.same((await page({ search: 'CAROL' })).ids, ids.slice(0, 1));
  t.same((await page({ role: 'ADMIN' })).ids, ids.slice(2));
  const { users: found } = await getData(actions.listUsers(ada.token, { role: 'ADMIN' }));
  const rest = (await app.inject({ url: '/api/admin/users?role=ADMIN', headers: ada.headers })).json().data.users;
  t.same(
    found,
    rest.map((user: { id: number }) => ({ ...user, id: String(user.id) })),
    'equal to the REST response',
  );
  for (const [input, field] of [
    [{ page: 0 }, 'page'],
    [{ limit: 0 }, 'limit'],
    [{ role: 'KING' }, 'role'],
    [{ offset: 1 }, 'offset'],
  ] as [object, string][]) {
    t.match(await actions.listUsers(ada.token, input), { error: 'Validation error', details: { [field]: [/./] } });
  }
});

t.test('updateUserRole changes a role, ends the sessions and is recorded', async (t) => {
  clock.advance(1000);
  const data = await getData(actions.updateUserRole(ada.token, String(alice.id), 'ADMIN'));
  const { trialEndsAt } = data;
  const updatedAt = '2026-11-20T10:00:01.000Z';
  t.same(data, { id: String(alice.id), role: 'ADMIN', isActive: true, trialEndsAt, updatedAt });
  t.same(await actions.getExecutions(alice.token), UNAUTHORIZED, 'her session has ended');
  const [entry] = await ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'user.changed'));
  t.match(entry, {
    actorId: ada.id,
    userId: alice.id,
    details: { before: { role: 'USER' }, after: { role: 'ADMIN' } },
    address: null,
  });
  t.equal(entry?.requestId, logged.find(({ action }) => action === 'updateUserRole')?.requestId);
});

t.test('The last active admin stays an admin', async (t) => {
  t.same(await actions.updateUserRole(ada.token, String(ada.id), 'USER'), {
    success: false,
    error: 'This is the last active admin.',
    code: 'CONFLICT',
  });
  t.same(await actions.updateUserRole(ada.token, '2147483647', 'USER'), notFoundError('user'));
  t.same(await actions.updateUserRole(alice.token, String(alice.id), 'ADMIN'), FORBIDDEN);
});

t.test('Of two admins who demote each other concurrently one stays, and the other gets an error', async (t) => {
  const grace = await signUp(app, { name: 'Grace', role: 'ADMIN' });
  const answers = await Promise.all([
    actions.updateUserRole(ada.token, String(grace.id), 'USER'),
    actions.updateUserRole(grace.token, String(ada.id), 'USER'),
  ]);
  t.equal(answers.filter(({ success }) => success).length, 1);
  t.ok(
    answers.every(
      (answer) =>
        answer.success || ['CONFLICT', 'INSUFFICIENT_PERMISSIONS', 'AUTH_REQUIRED'].includes(String(answer.code)),
    ),
  );
  t.equal(await ctx.db.$count(users, eq(users.role, 'ADMIN')), 1);
});

t.test('createCoupon accepts a code, or generates one', async (t) => {
  const given = { code: 'spring-27', type: 'TRIAL_EXTENSION', value: 30, maxUses: 5 } as const;
  const data = await getData(actions.createCoupon(ada.token, { ...given, expiresAt: '2027-01-01T01:00:00+01:00' }));
  t.same(data, {
    ...given,
    id: data.id,
    code: 'SPRING-27',
    isActive: true,
    usedCount: 0,
    expiresAt: '2027-01-01T00:00:00.000Z',
    createdByEmail: ada.email,
    createdAt: START.toISOString(),
  });
  const shown = (await app.inject({ url: `/api/admin/coupons/${data.id}`, headers: ada.headers })).json().coupon;
  t.same({ ...shown, id: data.id }, { ...data, updatedAt: START.toISOString() }, 'equal to the REST response');
  t.match(await getData(actions.createCoupon(ada.token, {})), {
    code: /^[\w-]{19}$/,
    value: 14,
    maxUses: null,
    expiresAt: null,
  });
  t.match(await actions.createCoupon(ada.token, { code: 'Spring-27' }), { success: false, code: 'CONFLICT' });
  t.same(await actions.createCoupon(ada.token, { maxUses: 0 }), validationError({ maxUses: ['must be at least 1'] }));
  t.match(await actions.createCoupon(ada.token, { type: 'GIFT' as never }), { details: { type: [/TRIAL_EXTENSION/] } });
  t.same(await actions.createCoupon(alice.token, given), FORBIDDEN);
});

t.test('Admin actions reject users for every input', async (t) => {
  for (const input of [undefined, {}, { page: 0 }]) t.same(await actions.listUsers(alice.token, input), FORBIDDEN);
  t.same(await actions.getSystemStats(alice.token), FORBIDDEN);
  t.same(await actions.updateUserRole(alice.token, 'x', 'USER'), FORBIDDEN);
});
