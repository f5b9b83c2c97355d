import { auditLog, coupons, settings, users } from '@carillon/db';
import { desc, eq } from 'drizzle-orm';
import t from 'tap';
import { generateCode } from '../../../src/product/users/coupons/write.ts';
import { START, testContext } from '../../support/context.ts';
import { insertCoupon } from '../../support/coupons.ts';
import { type Person, signUp, signUpAda } from '../../support/people.ts';
import { INVALID_IDS } from '../../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
const ada = await signUpAda(app);
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(coupons);
  await ctx.db.delete(auditLog);
});

const BASE = '/api/admin/coupons';
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const request = (method: Method, path: string, payload?: object, { headers }: Person = ada) =>
  app.inject({ method, url: `${BASE}${path}`, headers, ...(payload ? { payload } : {}) });
const activate = ({ headers }: Person, code: string) =>
  app.inject({ method: 'POST', url: '/api/coupons/activate', headers, payload: { code } });
const audit = () => ctx.db.select().from(auditLog).orderBy(desc(auditLog.id));

t.test('A created coupon has a generated code and the days of a trial', async (t) => {
  const answer = await request('POST', '', {});
  t.equal(answer.statusCode, 201);
  const { success, data, message } = answer.json();
  t.equal(success, true);
  t.type(message, 'string');
  const { id, code } = data;
  t.same(data, {
    id,
    code,
    type: 'TRIAL_EXTENSION',
    value: 14,
    isActive: true,
    maxUses: null,
    usedCount: 0,
    expiresAt: null,
    createdByEmail: ada.email,
    createdAt: START.toISOString(),
  });
  t.same((await request('GET', `/${id}`)).json(), {
    success: true,
    coupon: { ...data, updatedAt: START.toISOString() },
  });
});

t.test('A missing and an empty body create a coupon too', async (t) => {
  for (const headers of [{}, { 'content-type': 'application/json' }]) {
    const answer = await app.inject({ method: 'POST', url: BASE, headers: { ...ada.headers, ...headers } });
    t.match([answer.statusCode, answer.json().data], [201, { value: 14, maxUses: null, expiresAt: null }]);
  }
  t.equal(await ctx.db.$count(coupons), 2);
});

t.test('Limit, expiry and days can be given', async (t) => {
  const given = { maxUses: 3, expiresAt: '2026-12-01T02:00:00+02:00', value: 90, type: 'TRIAL_EXTENSION' };
  t.match((await request('POST', '', given)).json().data, {
    maxUses: 3,
    expiresAt: '2026-12-01T00:00:00.000Z',
    value: 90,
  });
  t.match((await request('POST', '', { maxUses: null, expiresAt: null })).json().data, {
    maxUses: null,
    expiresAt: null,
  });
});

t.test('The days default to those of the settings in force, and are required if that is 0', async (t) => {
  await ctx.db.update(settings).set({ trialDurationDays: 21 });
  t.equal((await request('POST', '', {})).json().data.value, 21);
  await ctx.db.update(settings).set({ trialDurationDays: 0 });
  t.same(Object.keys((await request('POST', '', {})).json().details), ['value']);
  t.equal((await request('POST', '', { value: 5 })).json().data.value, 5);
  await ctx.db.update(settings).set({ trialDurationDays: 14 });
});

t.test('A code has 80 random bits in characters that cannot be confused', async (t) => {
  const codes = Array.from({ length: 2000 }, generateCode);
  t.equal(new Set(codes).size, codes.length);
  for (const code of codes.slice(0, 50)) t.match(code, /^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
  const counts = new Map<string, number>();
  for (const sign of codes.join('').replaceAll('-', '')) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  t.equal(counts.size, 32, 'each of 32 characters occurs');
  t.ok(
    Math.min(...counts.values()) > 800 && Math.max(...counts.values()) < 1200,
    'all characters are about equally frequent',
  );
});

t.test('A chosen code is stored in upper case, and activated in any case', async (t) => {
  const answer = await request('POST', '', { code: 'spring-2027_a', value: 30, type: 'TRIAL_EXTENSION', maxUses: 2 });
  t.equal(answer.statusCode, 201);
  t.match(answer.json().data, { code: 'SPRING-2027_A', value: 30, type: 'TRIAL_EXTENSION', maxUses: 2 });
  t.equal((await activate(await signUp(app), ' Spring-2027_A ')).statusCode, 200);
  for (const code of ['ABCD', 'A'.repeat(40), '0000', '----'])
    t.equal((await request('POST', '', { code })).json().data.code, code);
  for (const code of [
    'ABC',
    'A'.repeat(41),
    '',
    'AB CD',
    ' ABCD',
    'ABCD\n',
    'ÄBCD',
    'ΑBCD',
    'AB.CD',
    'ıııı',
    7,
    null,
    {},
  ]) {
    const rejected = await request('POST', '', { code });
    t.equal(rejected.statusCode, 400, JSON.stringify(code));
    t.same(Object.keys(rejected.json().details), ['code']);
  }
});

t.test('A code exists once, in any letter case and among concurrent requests', async (t) => {
  const codes = ['Welcome', 'WELCOME', 'welcome', 'wELCOME'];
  const answers = await Promise.all([...codes, ...codes, ...codes].map((code) => request('POST', '', { code })));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, ...Array(11).fill(409)]);
  const rejected = answers.find(({ statusCode }) => statusCode === 409);
  t.same(rejected?.json(), { success: false, error: 'A coupon with this code already exists.' });
  t.equal(await ctx.db.$count(coupons), 1);
  t.equal((await audit()).length, 1, 'recorded once');
  await ctx.db.update(coupons).set({ isActive: false });
  t.equal((await request('POST', '', { code: 'Welcome' })).statusCode, 409, 'an inactive coupon still has the code');
});

t.test('Invalid coupons are validation errors by field', async (t) => {
  const wrong: [object, string][] = [
    [{ maxUses: 0 }, 'maxUses'],
    [{ maxUses: -1 }, 'maxUses'],
    [{ maxUses: 1.5 }, 'maxUses'],
    [{ maxUses: '3' }, 'maxUses'],
    [{ maxUses: 2_147_483_648 }, 'maxUses'],
    [{ expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ expiresAt: 7 }, 'expiresAt'],
  ];
  const { id } = await insertCoupon(ctx);
  for (const [payload, field] of wrong) {
    for (const answer of [await request('POST', '', payload), await request('PATCH', `/${id}`, payload)]) {
      t.equal(answer.statusCode, 400, JSON.stringify(payload));
      t.same(Object.keys(answer.json().details), [field]);
    }
  }
  for (const payload of [{ value: 0 }, { value: 3651 }, { type: 'DISCOUNT' }, { code: 'M' }])
    t.same(Object.keys((await request('POST', '', payload)).json().details), Object.keys(payload));
  for (const payload of [{ value: 5 }, { usedCount: 0 }, { isActive: null }])
    t.same(Object.keys((await request('PATCH', `/${id}`, payload)).json().details), Object.keys(payload));
});

t.test('The list has pages, newest first, and counts over all coupons', async (t) => {
  t.same((await request('GET', '')).json(), {
    success: true,
    data: {
      coupons: [],
      stats: { totalCoupons: 0, activeCoupons: 0, totalUses: 0 },
      pagination: { limit: 50, offset: 0, total: 0 },
    },
  });
  const ids: number[] = [];
  for (let i = 0; i < 5; i++) ids.push((await insertCoupon(ctx, { usedCount: i, isActive: i !== 1 })).id);
  const { data } = (await request('GET', '?limit=2&offset=1')).json();
  t.same(
    data.coupons.map(({ id }: { id: number }) => id),
    [ids[3], ids[2]],
  );
  t.match(data.coupons[0], { type: 'TRIAL_EXTENSION', value: 10, usedCount: 3, isActive: true });
  t.same(data.stats, { totalCoupons: 5, activeCoupons: 4, totalUses: 10 });
  t.same(data.pagination, { limit: 2, offset: 1, total: 5 });
  for (const query of ['limit=0', 'limit=1.5', 'offset=-1'])
    t.equal((await request('GET', `?${query}`)).statusCode, 400);
});

t.test('An inactive coupon cannot be used until it is active again', async (t) => {
  const { id, code } = await insertCoupon(ctx);
  const alice = await signUp(app);
  clock.advance(1000);
  const answer = await request('PATCH', `/${id}`, { isActive: false });
  t.equal(answer.statusCode, 200);
  const changed = { id, isActive: false, maxUses: null, updatedAt: '2026-11-20T10:00:01.000Z' };
  t.strictSame(answer.json(), { success: true, coupon: changed });
  t.equal((await activate(alice, code)).statusCode, 404);
  await request('PATCH', `/${id}`, { isActive: true });
  t.equal((await activate(alice, code)).statusCode, 200);
});

t.test('A limit below the uses ends a coupon, and null removes the limit', async (t) => {
  const { id, code } = await insertCoupon(ctx, { usedCount: 3 });
  t.match((await request('PATCH', `/${id}`, { maxUses: 2 })).json().coupon, { maxUses: 2 });
  const alice = await signUp(app);
  t.match((await activate(alice, code)).json(), { error: 'Cupom atingiu o limite de usos' });
  t.match((await request('PATCH', `/${id}`, { maxUses: null })).json().coupon, { maxUses: null });
  t.equal((await activate(alice, code)).statusCode, 200);
});

t.test('An expiry in the past ends a coupon, and null removes it', async (t) => {
  const { id, code } = await insertCoupon(ctx);
  const alice = await signUp(app);
  await request('PATCH', `/${id}`, { expiresAt: '2020-01-01T00:00:00Z' });
  t.match((await activate(alice, code)).json(), { error: 'Cupom expirado' });
  t.equal((await request('PATCH', `/${id}`, { expiresAt: null })).json().coupon.expiresAt, null);
  t.equal((await activate(alice, code)).statusCode, 200);
});

t.test('A change that changes nothing is neither dated nor recorded', async (t) => {
  const { id } = await insertCoupon(ctx, { maxUses: 5, expiresAt: START });
  clock.advance(1000);
  for (const payload of [{}, { isActive: true, maxUses: 5, expiresAt: '2026-11-20T10:00:00Z' }])
    t.equal((await request('PATCH', `/${id}`, payload)).json().coupon.updatedAt, START.toISOString());
  t.same(await audit(), []);
});

t.test('The uses of a coupon are listed, newest first, with the remaining ones', async (t) => {
  const { id, code } = await insertCoupon(ctx, { maxUses: 3 });
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  await activate(alice, code);
  clock.advance(1000);
  await activate(bob, code);
  const one = ({ id: userId, name: userName, email: userEmail }: Person, usedAt: string) => {
    return { userId, userName, userEmail, usedAt };
  };
  const [first, second] = [one(bob, '2026-11-20T10:00:01.000Z'), one(alice, '2026-11-20T10:00:00.000Z')];
  t.same((await request('GET', `/${id}/usage`)).json(), {
    success: true,
    usage: [first, second],
    summary: { totalUses: 2, maxUses: 3, remainingUses: 1 },
  });
  t.same((await request('GET', `/${id}/usage?limit=1&offset=1`)).json().usage, [second]);
  await ctx.db.delete(users).where(eq(users.id, bob.id));
  t.match((await request('GET', `/${id}/usage`)).json(), {
    usage: [second],
    summary: { totalUses: 2, remainingUses: 1 },
  });
  await request('PATCH', `/${id}`, { maxUses: 1 });
  t.match((await request('GET', `/${id}/usage`)).json(), { summary: { remainingUses: 0 } });
  await request('PATCH', `/${id}`, { maxUses: null });
  t.match((await request('GET', `/${id}/usage`)).json(), { summary: { maxUses: null, remainingUses: null } });
});

t.test('A deleted coupon is not found; trials that it extended stay extended', async (t) => {
  const { id, code } = await insertCoupon(ctx);
  const alice = await signUp(app);
  const { trialEndsAt } = (await activate(alice, code)).json().user;
  t.same((await request('DELETE', `/${id}`)).json(), { success: true, message: 'The coupon is deleted.' });
  t.equal((await request('GET', `/${id}`)).statusCode, 404);
  t.equal((await request('DELETE', `/${id}`)).statusCode, 404);
  const profile = await app.inject({ url: '/api/user', headers: alice.headers });
  t.equal(profile.json().user.trialEndsAt, trialEndsAt);
});

t.test('Every change is recorded: the admin, what, before, after, and the address', async (t) => {
  const { id, code } = (await request('POST', '', { maxUses: 2 })).json().data;
  await request('PATCH', `/${id}`, { isActive: false, maxUses: 9 });
  await request('DELETE', `/${id}`);
  const made = { code, value: 14, isActive: true, maxUses: 2, expiresAt: null };
  const changed = { ...made, isActive: false, maxUses: 9 };
  const records = (await audit()).map(({ kind, actorId, actorEmail, details, address, requestId }) => {
    t.ok(requestId);
    return { kind, actorId, actorEmail, details, address };
  });
  const by = { actorId: ada.id, actorEmail: ada.email, address: '127.0.0.1' };
  t.same(records, [
    { kind: 'coupon.deleted', ...by, details: { couponId: id, before: changed, after: null } },
    { kind: 'coupon.changed', ...by, details: { couponId: id, before: made, after: changed } },
    { kind: 'coupon.created', ...by, details: { couponId: id, before: null, after: made } },
  ]);
});

t.test('An unknown coupon is not found', async (t) => {
  for (const id of [...INVALID_IDS, '2147483647']) {
    t.equal((await request('GET', `/${id}`)).statusCode, 404, id);
    t.equal((await request('GET', `/${id}/usage`)).statusCode, 404, id);
    t.equal((await request('PATCH', `/${id}`, { isActive: true })).statusCode, 404, id);
    t.equal((await request('DELETE', `/${id}`)).statusCode, 404, id);
  }
});

t.test('Coupons need an admin with the admin key', async (t) => {
  const { id } = await insertCoupon(ctx);
  const alice = await signUp(app);
  const { 'x-admin-key': _key, ...keyless } = ada.headers;
  const operations: [Method, string, object?][] = [
    ['GET', ''],
    ['POST', '', {}],
    ['GET', `/${id}`],
    ['PATCH', `/${id}`, { isActive: false }],
    ['DELETE', `/${id}`],
    ['GET', `/${id}/usage`],
  ];
  const strangers = [alice, { ...ada, headers: keyless }, { ...ada, headers: { ...keyless, 'x-admin-key': 'wrong' } }];
  for (const [method, path, payload] of operations) {
    for (const stranger of strangers) {
      const answer = await request(method, path, payload, stranger);
      t.equal(answer.statusCode, 403, `${method} ${path}`);
      t.same(answer.json(), {
        success: false,
        error: 'Unauthorized',
        message: 'Admin access required',
      });
    }
    t.equal((await app.inject({ method, url: `${BASE}${path}`, ...(payload ? { payload } : {}) })).statusCode, 401);
  }
  t.equal(await ctx.db.$count(coupons, eq(coupons.isActive, true)), 1);
});
