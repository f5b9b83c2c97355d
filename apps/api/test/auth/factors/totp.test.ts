import { auditLog, factors, mails, signInTickets } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import { toPruneBatch } from '../../../src/product/retention/policies.ts';
import { START, testContext } from '../../support/context.ts';
import { addTotp, getTicket, post, readCode } from '../../support/factors.ts';
import { createKey } from '../../support/keys.ts';
import { confirmSession, PASSWORD, type Person, signUp } from '../../support/people.ts';

const { app, ctx, clock } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
const STEP = 30_000;
const MINUTES_15 = 15 * 60_000;
let alice: Person;
let start = START.getTime();
t.beforeEach(async () => {
  // The limits of the test before are over.
  start += 24 * 60 * 60_000;
  clock.set(new Date(start));
  alice = await signUp(app);
});

const listFactors = async (person: Person) =>
  (await app.inject({ url: '/api/user/factors', headers: person.headers })).json();
const answer = (payload: object, headers = {}) => post(app, '/api/auth/second-factor', headers, payload);
const remove = (person: Person, id: string) =>
  app.inject({ method: 'DELETE', url: `/api/user/factors/${id}`, headers: person.headers });
const REJECTED = { statusCode: 401, headers: { 'x-error-code': 'FACTOR_REJECTED' } };
const OLD_TICKET = { statusCode: 401, headers: { 'x-error-code': 'TICKET_INVALID' } };
const REQUIRED = { statusCode: 403, headers: { 'x-error-code': 'CONFIRMATION_REQUIRED' } };
const login = () =>
  post(app, '/api/auth/login', { 'x-request-token': 'true' }, { email: alice.email, password: PASSWORD });

t.test('An app counts once its first code was given, and then a sign-in asks for the next one', async (t) => {
  const created = await post(app, '/api/user/factors/totp', alice.headers, { name: 'Phone' });
  t.equal(created.statusCode, 201);
  const { factor, secret, uri } = created.json();
  t.match(factor, { kind: 'totp', name: 'Phone', lastUsedAt: null });
  t.match(secret, /^[A-Z2-7]{32}$/);
  t.match(uri, `otpauth://totp/Carillon:${encodeURIComponent(alice.email)}?issuer=Carillon&secret=${secret}`);
  t.same(await listFactors(alice), { success: true, factors: [], recoveryCodesLeft: 0 });
  t.equal((await login()).statusCode, 200, 'nothing is asked for yet');
  const [stored] = await ctx.db.select().from(factors).where(eq(factors.id, factor.id));
  t.notMatch(JSON.stringify(stored), secret);

  const confirm = (code: string) => post(app, `/api/user/factors/${factor.id}/confirm`, alice.headers, { code });
  t.match((await confirm('000000')).json(), { error: 'Validation error', details: { code: ['is wrong'] } });
  const code = readCode(secret, ctx.now());
  const confirmed = await confirm(`${code.slice(0, 3)} ${code.slice(3)}`);
  t.equal(confirmed.statusCode, 200, confirmed.body);
  const { recoveryCodes } = confirmed.json();
  t.equal(new Set(recoveryCodes).size, 10);
  for (const recoveryCode of recoveryCodes) t.match(recoveryCode, /^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
  t.equal((await confirm(readCode(secret, ctx.now()))).statusCode, 404, 'confirmed once');

  const asked = await login();
  t.equal(asked.statusCode, 401);
  t.equal(asked.headers['x-error-code'], 'SECOND_FACTOR_REQUIRED');
  t.notOk(asked.headers['set-cookie']);
  const { details, ...body } = asked.json();
  t.same(body, {
    success: false,
    error: 'Second factor required',
    message: 'Send a code of your authenticator app, or use a passkey.',
  });
  t.same(details.kinds, ['totp']);
  t.match(await answer({ ticket: details.ticket, code }), REJECTED, 'the first code was used');
  clock.advance(STEP);
  const next = readCode(secret, ctx.now());
  const signedIn = await answer({ ticket: details.ticket, code: next }, { 'x-request-token': 'true' });
  t.equal(signedIn.statusCode, 200, signedIn.body);
  t.same(signedIn.json().user, { id: alice.id, email: alice.email, name: 'Alice', role: 'USER' });
  t.match(signedIn.headers['set-cookie'], /^local-session=/);
  const headers = { authorization: `Bearer ${signedIn.json().token}` };
  t.equal((await app.inject({ url: '/api/auth/session', headers })).json().user.id, alice.id);
  t.match(await answer({ ticket: details.ticket, code: next }), OLD_TICKET, 'a ticket is used once');
  t.match(await listFactors(alice), {
    factors: [{ id: factor.id, lastUsedAt: ctx.now().toISOString() }],
    recoveryCodesLeft: 10,
  });
});

t.test('A code works one step early or late, and after it neither it nor an older one', async (t) => {
  const { secret } = await addTotp(app, alice, ctx.now());
  clock.advance(10 * STEP);
  const at = (steps: number) => readCode(secret, new Date(ctx.now().getTime() + steps * STEP));
  const ticket = await getTicket(app, alice);
  for (const steps of [-2, 2]) t.match(await answer({ ticket, code: at(steps) }), REJECTED, `${steps} steps`);
  const code = at(0);
  t.equal((await answer({ ticket, code })).statusCode, 200);
  for (const replayed of [code, at(-1)]) {
    t.match(await answer({ ticket: await getTicket(app, alice), code: replayed }), REJECTED);
  }
  t.equal((await answer({ ticket: await getTicket(app, alice), code: at(1) })).statusCode, 200);
  clock.advance(STEP);
  t.match(await answer({ ticket: await getTicket(app, alice), code: at(0) }), REJECTED);
});

t.test('Of 20 sign-ins at once with one code, one gets in', async (t) => {
  const { secret } = await addTotp(app, alice, ctx.now());
  clock.advance(STEP);
  const tickets: string[] = [];
  for (let n = 0; n < 4; n++) tickets.push(await getTicket(app, alice));
  const code = readCode(secret, ctx.now());
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => answer({ ticket: tickets[n % tickets.length] as string, code })),
  );
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1);
  t.equal(answers.filter(({ statusCode }) => statusCode === 401).length, 19);
});

t.test(
  'Of answers at once to one ticket with different recovery codes one gets in, and the others keep theirs',
  async (t) => {
    const { recoveryCodes } = await addTotp(app, alice, ctx.now());
    const ticket = await getTicket(app, alice);
    const answers = await Promise.all(recoveryCodes.map((recoveryCode) => answer({ ticket, recoveryCode })));
    t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1);
    t.equal((await listFactors(alice)).recoveryCodesLeft, 9);
  },
);

t.test('A ticket takes five codes, also at once, and lives five minutes', async (t) => {
  const { secret } = await addTotp(app, alice, ctx.now());
  clock.advance(STEP);
  const ticket = await getTicket(app, alice);
  const guesses = await Promise.all(Array.from({ length: 12 }, () => answer({ ticket, code: '000000' })));
  t.equal(guesses.filter(({ headers }) => headers['x-error-code'] === 'FACTOR_REJECTED').length, 5);
  t.equal(guesses.filter(({ headers }) => headers['x-error-code'] === 'TICKET_INVALID').length, 7);
  t.match(await answer({ ticket, code: readCode(secret, ctx.now()) }), OLD_TICKET);

  const other = await getTicket(app, alice);
  clock.advance(5 * 60_000 - 1);
  t.match(await answer({ ticket: other, code: 'no code' }), REJECTED);
  clock.advance(1);
  t.match(await answer({ ticket: other, code: readCode(secret, ctx.now()) }), OLD_TICKET);
  t.match(await answer({ ticket: 'f'.repeat(64), code: '123456' }), OLD_TICKET, 'never issued');
  for (const payload of [{}, { ticket: other }, { ticket: other, code: '1', recoveryCode: '1' }, { code: '123456' }]) {
    t.equal((await answer(payload)).statusCode, 400, JSON.stringify(payload));
  }
});

t.test(
  'An account takes 30 wrong codes an hour over all tickets and confirmations, and right ones do not count',
  async (t) => {
    const { recoveryCodes } = await addTotp(app, alice, ctx.now());
    const wrong = { code: '000000' };
    for (let n = 0; n < 3; n++) {
      t.equal((await answer({ ticket: await getTicket(app, alice), recoveryCode: recoveryCodes[n] })).statusCode, 200);
    }
    const confirmations = await Promise.all(
      Array.from({ length: 27 }, () => post(app, '/api/auth/confirm', alice.headers, wrong)),
    );
    t.ok(confirmations.every(({ statusCode }) => statusCode === 400));
    t.same(confirmations[0]?.json().details, { code: ['is wrong, or was used before'] });
    const ticket = await getTicket(app, alice);
    const guesses = await Promise.all(Array.from({ length: 5 }, () => answer({ ticket, ...wrong })));
    t.same(guesses.map(({ statusCode }) => statusCode).sort(), [401, 401, 401, 429, 429]);
    clock.advance(MINUTES_15);
    const right = { ticket: await getTicket(app, alice), recoveryCode: recoveryCodes[5] };
    t.equal((await answer(right)).statusCode, 429, 'right ones neither');
    const bob = await signUp(app);
    const { secret } = await addTotp(app, bob, ctx.now());
    clock.advance(STEP);
    t.equal((await answer({ ticket: await getTicket(app, bob), code: readCode(secret, ctx.now()) })).statusCode, 200);
    clock.advance(45 * 60_000);
    t.equal((await answer({ ...right, ticket: await getTicket(app, alice) })).statusCode, 200);
  },
);

t.test('A recovery code is used once, in any spelling, and mailed', async (t) => {
  const { recoveryCodes } = await addTotp(app, alice, ctx.now());
  const [first = '', second] = recoveryCodes;
  const spelled = first.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O').replaceAll('1', 'l');
  t.equal((await answer({ ticket: await getTicket(app, alice), recoveryCode: spelled })).statusCode, 200);
  const ticket = await getTicket(app, alice);
  t.match(await answer({ ticket, recoveryCode: first }), REJECTED);
  const replaced = await post(app, '/api/user/recovery-codes', alice.headers);
  t.equal(replaced.statusCode, 200);
  t.equal(replaced.json().recoveryCodes.length, 10);
  t.match(await answer({ ticket, recoveryCode: second }), REJECTED, 'replaced');
  t.equal((await answer({ ticket, recoveryCode: replaced.json().recoveryCodes[0] })).statusCode, 200);
  const sent = await ctx.db.select().from(mails).where(eq(mails.userId, alice.id)).orderBy(asc(mails.createdAt));
  t.same(sent.map(({ subject }) => subject).sort(), [
    'A recovery code was used',
    'A recovery code was used',
    'A second factor was added',
    'The recovery codes were replaced',
  ]);
});

t.test(
  'Factors change in a session of the last 15 minutes that has given one, not by the password alone',
  async (t) => {
    const { id, secret } = await addTotp(app, alice, ctx.now());
    clock.advance(MINUTES_15);
    const changes = [
      () => remove(alice, id),
      () => post(app, '/api/user/factors/totp', alice.headers, {}),
      () => post(app, '/api/user/factors/passkey/options', alice.headers),
      () => post(app, '/api/user/recovery-codes', alice.headers),
    ];
    for (const change of changes) t.match(await change(), REQUIRED);
    await confirmSession(app, alice);
    t.ok(await createKey(app, alice), 'the password confirms other things');
    for (const at of [0, 1, 3]) {
      const refused = await (changes[at] as () => ReturnType<typeof remove>)();
      t.match(refused, REQUIRED);
      t.same(refused.json(), { success: false, error: 'Confirm with your second factor first.' });
    }
    const confirm = (payload: object) => post(app, '/api/auth/confirm', alice.headers, payload);
    const code = readCode(secret, ctx.now());
    t.equal((await confirm({ code })).statusCode, 200);
    t.equal((await confirm({ code })).statusCode, 400, 'once');
    t.equal((await remove(alice, id)).statusCode, 200);
    t.same(await listFactors(alice), { success: true, factors: [], recoveryCodesLeft: 0 });
    t.equal((await login()).statusCode, 200);
    t.equal((await post(app, '/api/user/recovery-codes', alice.headers)).statusCode, 409);
    const kinds = (await ctx.db.select().from(auditLog).where(eq(auditLog.userId, alice.id))).map(({ kind }) => kind);
    for (const kind of ['user.factor_added', 'user.factor_removed']) t.ok(kinds.includes(kind), kind);
  },
);

t.test('A change or reset of the password keeps the factor, and ends unfinished sign-ins', async (t) => {
  const { secret } = await addTotp(app, alice, ctx.now());
  clock.advance(STEP);
  const ticket = await getTicket(app, alice);
  const payload = { currentPassword: PASSWORD, newPassword: 'Another-2026' };
  t.equal((await post(app, '/api/user/password', alice.headers, payload)).statusCode, 200);
  t.match(await answer({ ticket, code: readCode(secret, ctx.now()) }), OLD_TICKET);
  const asked = await post(app, '/api/auth/login', {}, { email: alice.email, password: 'Another-2026' });
  t.equal(asked.json().error, 'Second factor required');
});

t.test('Strangers see and change nothing, and keys neither', async (t) => {
  const { id } = await addTotp(app, alice, ctx.now());
  const bob = await signUp(app);
  t.same((await listFactors(bob)).factors, []);
  t.equal((await remove(bob, id)).statusCode, 404);
  const waiting = (await post(app, '/api/user/factors/totp', alice.headers, {})).json();
  const code = readCode(waiting.secret, ctx.now());
  t.equal((await post(app, `/api/user/factors/${waiting.factor.id}/confirm`, bob.headers, { code })).statusCode, 404);
  t.equal((await remove(alice, waiting.factor.id)).statusCode, 404, 'not one yet');
  const key = await createKey(app, alice);
  t.equal((await app.inject({ url: '/api/user/factors', headers: key.headers })).statusCode, 403);
});

t.test('What no sign-in uses any more is pruned', async (t) => {
  const { secret } = await addTotp(app, alice, ctx.now());
  clock.advance(STEP);
  const ticket = await getTicket(app, alice);
  const waiting = (await post(app, '/api/user/factors/totp', alice.headers, {})).json();
  const prune = async () => {
    for (const kind of ['sign-in tickets', 'passkey challenges', 'unconfirmed factors'] as const) {
      await toPruneBatch(ctx, kind)(ctx, null);
    }
    const own = eq(factors.userId, alice.id);
    return [await ctx.db.$count(signInTickets, eq(signInTickets.userId, alice.id)), await ctx.db.$count(factors, own)];
  };
  t.same(await prune(), [1, 2]);
  t.equal((await answer({ ticket, code: readCode(secret, ctx.now()) })).statusCode, 200);
  await getTicket(app, alice);
  clock.advance(61 * 60_000);
  const code = readCode(waiting.secret, ctx.now());
  await post(app, '/api/auth/confirm', alice.headers, { code: readCode(secret, ctx.now()) });
  const late = await post(app, `/api/user/factors/${waiting.factor.id}/confirm`, alice.headers, { code });
  t.equal(late.statusCode, 404, 'an app that waits for an hour is given up');
  t.same(await prune(), [0, 2]);
  clock.advance(24 * 60 * 60_000);
  t.same(await prune(), [0, 1]);
});
