import { auditLog, factors } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import t from 'tap';
import { testContext } from '../../support/context.ts';
import { addTotp, getTicket, post, readCode } from '../../support/factors.ts';
import { createKey } from '../../support/keys.ts';
import { type Person, signUp, signUpAda } from '../../support/people.ts';

const { app, ctx, clock } = await testContext(t);
const ada = await signUpAda(app);
const alice = await signUp(app);
const [key, adminKey] = [await createKey(app, alice), await createKey(app, ada, { scopes: ['admin'] })];
const admin = { ...adminKey.headers, 'x-admin-key': ada.headers['x-admin-key'] ?? '' };

const get = ({ headers }: Pick<Person, 'headers'>, url = '/api/tasks') => app.inject({ url, headers });
const demand = (secondFactor: unknown, headers: Record<string, string> = admin) =>
  app.inject({ method: 'PATCH', url: '/api/admin/security', headers, payload: { secondFactor } });
const MISSING = { statusCode: 403, headers: { 'x-error-code': 'SECOND_FACTOR_SETUP_REQUIRED' } };

t.test('An administrator reads and changes who needs a factor, and it is recorded', async (t) => {
  const read = async () => (await app.inject({ url: '/api/admin/security', headers: admin })).json();
  t.same(await read(), { success: true, secondFactor: 'off' });
  t.same((await demand('admins')).json(), { success: true, secondFactor: 'admins' });
  t.equal((await demand('admins')).statusCode, 200);
  t.same(await read(), { success: true, secondFactor: 'admins' });
  const recorded = await ctx.db
    .select({ details: auditLog.details })
    .from(auditLog)
    .where(and(eq(auditLog.kind, 'settings.changed'), eq(auditLog.actorId, ada.id)));
  t.same(recorded, [{ details: { before: { secondFactor: 'off' }, after: { secondFactor: 'admins' } } }]);
  for (const wrong of ['everyone', null, 1]) t.equal((await demand(wrong)).statusCode, 400, String(wrong));
  t.equal((await demand('off', alice.headers)).statusCode, 403);
});

t.test('Who needs a factor and has none does nothing else first; others and keys go on', async (t) => {
  await demand('admins');
  t.match(await get(ada), MISSING);
  t.equal((await get(alice)).statusCode, 200);
  await demand('all');
  const refused = await get(alice);
  t.match(refused, MISSING);
  t.same(refused.json(), {
    success: false,
    error: 'This installation asks for a second factor: add one first.',
  });
  t.match(await demand('off', ada.headers), MISSING, 'administrators neither');
  t.match(await post(app, '/api/keys', alice.headers, { name: 'x', scopes: ['tasks:read'] }), MISSING);
  t.equal((await get(key)).statusCode, 200);
  for (const url of ['/api/auth/session', '/api/auth/sessions', '/api/user/factors']) {
    t.equal((await get(alice, url)).statusCode, 200, url);
  }
  const waiting = (await post(app, '/api/user/factors/totp', alice.headers, {})).json();
  t.match(await get(alice), MISSING, 'an app counts from its first code on');
  const code = readCode(waiting.secret, ctx.now());
  await post(app, `/api/user/factors/${waiting.factor.id}/confirm`, alice.headers, { code });
  t.equal((await get(alice)).statusCode, 200);
  t.equal((await post(app, '/api/auth/logout', ada.headers)).statusCode, 200);
});

t.test('Who deletes the last factor has to add one again', async (t) => {
  await demand('all');
  const bob = await signUp(app);
  const { id } = await addTotp(app, bob, ctx.now());
  t.equal(
    (await app.inject({ method: 'DELETE', url: `/api/user/factors/${id}`, headers: bob.headers })).statusCode,
    200,
  );
  t.match(await get(bob), MISSING);
});

t.test('A lost phone: a recovery code lets in, removes the lost app and adds another one', async (t) => {
  const carol = await signUp(app);
  const lost = await addTotp(app, carol, ctx.now());
  clock.advance(24 * 60 * 60_000);
  const answered = await post(
    app,
    '/api/auth/second-factor',
    { 'x-request-token': 'true' },
    { ticket: await getTicket(app, carol), recoveryCode: lost.recoveryCodes[3] },
  );
  const headers = { authorization: `Bearer ${answered.json().token}` };
  const added = await addTotp(app, { headers }, ctx.now());
  t.same(added.recoveryCodes, [], 'the other codes stay');
  t.equal((await app.inject({ method: 'DELETE', url: `/api/user/factors/${lost.id}`, headers })).statusCode, 200);
  const left = await get({ headers } as Person, '/api/user/factors');
  t.match(left.json(), { factors: [{ id: added.id }], recoveryCodesLeft: 9 });
  t.equal(await ctx.db.$count(factors, eq(factors.userId, carol.id)), 1);
});
