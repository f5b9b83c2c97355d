import { auditLog, couponRedemptions, coupons, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { AppError } from '../../../src/errors.ts';
import { activateCoupon } from '../../../src/product/users/coupons/activate.ts';
import { generateCode } from '../../../src/product/users/coupons/write.ts';
import { assertNeedsSession } from '../../support/access.ts';
import { START, testContext } from '../../support/context.ts';
import { insertCoupon } from '../../support/coupons.ts';
import { recordDeadlocks } from '../../support/database.ts';
import { buildCaller } from '../../support/engine.ts';
import { type Person, signUp } from '../../support/people.ts';
import { insertUsers } from '../../support/task-rows.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

const DAY = 24 * 60 * 60 * 1000;
const after = (days: number, from = START) => new Date(from.getTime() + days * DAY);
const activate = ({ headers }: Person, code: unknown) =>
  app.inject({ method: 'POST', url: '/api/coupons/activate', headers, payload: { code } });
const setTrial = ({ id }: Person, trialEndsAt: Date | null) =>
  ctx.db.update(users).set({ trialEndsAt }).where(eq(users.id, id));
const readTrial = async (id: number) =>
  (await ctx.db.select({ at: users.trialEndsAt }).from(users).where(eq(users.id, id)))[0]?.at;
const usesOf = async (id: number) => {
  const [coupon] = await ctx.db.select().from(coupons).where(eq(coupons.id, id));
  const redeemed = await ctx.db.$count(couponRedemptions, eq(couponRedemptions.couponId, id));
  return [coupon?.usedCount, redeemed];
};

async function errorMessage(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

t.test('A coupon extends the trial by its days, and is counted', async (t) => {
  const alice = await signUp(app);
  const { id, code } = await insertCoupon(ctx, { value: 30 });
  const answer = await activate(alice, code);
  t.equal(answer.statusCode, 200);
  const { message, ...body } = answer.json();
  t.type(message, 'string');
  t.same(body, {
    success: true,
    coupon: { code, type: 'TRIAL_EXTENSION', value: 30, appliedAt: START.toISOString() },
    user: { trialEndsAt: after(14 + 30).toISOString() },
  });
  t.same(await readTrial(alice.id), after(44));
  t.same(await usesOf(id), [1, 1]);
});

t.test('A trial that has ended or never existed is extended from now', async (t) => {
  for (const trialEndsAt of [after(-100), START, null]) {
    const alice = await signUp(app);
    await setTrial(alice, trialEndsAt);
    const { code } = await insertCoupon(ctx);
    t.equal((await activate(alice, code)).json().user.trialEndsAt, after(10).toISOString());
  }
});

t.test('A trial is never extended beyond the year 9999', async (t) => {
  const alice = await signUp(app);
  await setTrial(alice, new Date('9999-12-30T00:00:00.000Z'));
  const { code } = await insertCoupon(ctx);
  t.equal((await activate(alice, code)).json().user.trialEndsAt, '9999-12-31T23:59:59.999Z');
});

t.test('Letter case and spaces around a code are ignored, and the coupon is shown as it was created', async (t) => {
  const { code, id } = await insertCoupon(ctx);
  for (const written of [code.toLowerCase(), `  ${code} `, code.slice(0, 9).toLowerCase() + code.slice(9)])
    t.equal((await activate(await signUp(app), written)).json().coupon.code, code);
  t.same(await usesOf(id), [3, 3]);
});

t.test('A missing and an inactive coupon are both 404', async (t) => {
  const alice = await signUp(app);
  const { code } = await insertCoupon(ctx, { isActive: false, expiresAt: after(-1) });
  for (const given of [code, generateCode(), '%', "' or 1=1 --", '🔔']) {
    const answer = await activate(alice, given);
    t.equal(answer.statusCode, 404);
    t.same(answer.json(), { success: false, error: 'Cupom não encontrado ou inativo' });
  }
});

t.test('An expired coupon is 400 "Cupom expirado", from the exact instant on', async (t) => {
  const { code, id } = await insertCoupon(ctx, { expiresAt: after(1), maxUses: 1 });
  clock.set(after(1));
  const answer = await activate(await signUp(app), code);
  t.equal(answer.statusCode, 400);
  t.same(answer.json(), { success: false, error: 'Cupom expirado' });
  clock.advance(-1);
  t.equal((await activate(await signUp(app), code)).statusCode, 200);
  t.same(await usesOf(id), [1, 1]);
});

t.test('A coupon that the caller has used is 400, also at its limit', async (t) => {
  const alice = await signUp(app);
  for (const maxUses of [null, 1]) {
    const { code, id } = await insertCoupon(ctx, { maxUses });
    t.equal((await activate(alice, code)).statusCode, 200);
    const before = await readTrial(alice.id);
    const answer = await activate(alice, code);
    t.equal(answer.statusCode, 400);
    t.same(answer.json(), { success: false, error: 'Cupom já utilizado' });
    t.same([await usesOf(id), await readTrial(alice.id)], [[1, 1], before]);
  }
});

t.test('A coupon at its limit is 400', async (t) => {
  const { code } = await insertCoupon(ctx, { maxUses: 1 });
  await activate(await signUp(app), code);
  const answer = await activate(await signUp(app, { name: 'Bob' }), code);
  t.equal(answer.statusCode, 400);
  t.same(answer.json(), { success: false, error: 'Cupom atingiu o limite de usos' });
});

t.test('A body without a code is a validation error', async (t) => {
  const alice = await signUp(app);
  for (const code of [undefined, null, 7, '', 'x'.repeat(101)]) {
    const answer = await activate(alice, code);
    t.equal(answer.statusCode, 400);
    t.same(Object.keys(answer.json().details), ['code']);
  }
});

t.test('An activation is recorded, a rejected one is not', async (t) => {
  const alice = await signUp(app);
  const { code, id } = await insertCoupon(ctx);
  await activate(alice, code);
  await activate(alice, code);
  const records = await ctx.db.select().from(auditLog).where(eq(auditLog.userId, alice.id));
  t.match(
    records.filter(({ kind }) => kind === 'coupon.activated'),
    [
      {
        actorId: alice.id,
        actorEmail: alice.email,
        address: '127.0.0.1',
        details: { couponId: id, code, value: 10, trialEndsAt: after(24).toISOString() },
      },
    ],
  );
});

for (const round of [1, 2, 3]) {
  t.test(`Of 200 users who race for 10 uses, exactly 10 get one (${round})`, async (t) => {
    const deadlocks = recordDeadlocks(ctx);
    await ctx.db.delete(users);
    const ids = await insertUsers(ctx, 200, 'trial');
    const { code, id } = await insertCoupon(ctx, { maxUses: 10 });
    const errors = await Promise.all(ids.map((userId) => errorMessage(activateCoupon(ctx, buildCaller(userId), code))));
    t.equal(errors.filter((one) => one === null).length, 10);
    t.equal(errors.filter((one) => one === 'Cupom atingiu o limite de usos').length, 190);
    t.same(await usesOf(id), [10, 10]);
    const extended = await ctx.db.$count(users, eq(users.trialEndsAt, after(10)));
    t.equal(extended, 10);
    t.same(deadlocks, []);
  });
}

t.test('One user who activates a coupon 20 times concurrently uses it once', async (t) => {
  for (const maxUses of [null, 1, 5]) {
    const alice = await signUp(app);
    const { code, id } = await insertCoupon(ctx, { maxUses });
    const answers = await Promise.all(Array.from({ length: 20 }, () => activate(alice, code)));
    t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1);
    t.equal(answers.filter((answer) => answer.json().error === 'Cupom já utilizado').length, 19);
    t.same([await usesOf(id), await readTrial(alice.id)], [[1, 1], after(24)]);
  }
});

t.test('20 coupons that one user activates concurrently all count', async (t) => {
  const alice = await signUp(app);
  const made = await Promise.all(Array.from({ length: 20 }, () => insertCoupon(ctx, { value: 1 })));
  await Promise.all(made.map(({ code }) => activate(alice, code)));
  t.same(await readTrial(alice.id), after(34));
});

t.test('Activating needs a session', (t) =>
  assertNeedsSession(t, app, { method: 'POST', url: '/api/coupons/activate', payload: { code: 'X' } }),
);
