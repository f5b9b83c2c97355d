import { DAY_MS } from '@carillon/contract/primitives';
import { connect, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { buildApp } from '../../src/entry/app.ts';
import { endUserSessions } from '../../src/product/auth/sessions.ts';
import { START, testContext } from '../support/context.ts';
import { PASSWORD, type Person, signUpAlice, signUpBob } from '../support/people.ts';

const url = '/api/auth/sessions';

const { app, ctx, clock, databaseUrl } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1000' } });
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
});

interface Shown {
  id: string;
  current: boolean;
  [field: string]: unknown;
}

const list = async ({ headers }: Pick<Person, 'headers'>): Promise<Shown[]> =>
  (await app.inject({ url, headers })).json().sessions;
const end = (id: string, { headers }: Pick<Person, 'headers'>) =>
  app.inject({ method: 'DELETE', url: `${url}/${id}`, headers });
const isSignedIn = async ({ headers }: Pick<Person, 'headers'>, at = app) =>
  (await at.inject({ url: '/api/auth/session', headers })).statusCode === 200;

/** Another session of Alice, from another device. */
async function signInAgain(userAgent: string, remoteAddress = '192.0.2.7'): Promise<Pick<Person, 'headers'>> {
  const answer = await app.inject({
    method: 'POST',
    url: '/api/auth/login',
    payload: { email: 'alice@example.com', password: PASSWORD },
    headers: { 'user-agent': userAgent, 'x-request-token': 'true' },
    remoteAddress,
  });
  return { headers: { authorization: `Bearer ${answer.json().token}` } };
}

t.test('The list of sessions has the last used first and marks the current one', async (t) => {
  const alice = await signUpAlice(app);
  await signUpBob(app);
  clock.advance(90_000);
  const phone = await signInAgain('Phone/1.0');
  const answer = await app.inject({ url, headers: alice.headers });
  t.equal(answer.statusCode, 200);
  const then = new Date(START.getTime() + 90_000);
  const week = 7 * DAY_MS;
  const at = (from: Date, ms = 0) => new Date(from.getTime() + ms).toISOString();
  t.match(answer.json(), {
    success: true,
    sessions: [
      {
        userAgent: 'Phone/1.0',
        address: '192.0.2.7',
        createdAt: at(then),
        lastUsedAt: at(then),
        expiresAt: at(then, week),
        current: false,
      },
      {
        userAgent: null,
        address: '127.0.0.1',
        createdAt: at(START),
        lastUsedAt: at(then),
        expiresAt: at(START, week),
        current: true,
      },
    ],
  });
  t.same(Object.keys(answer.json().sessions[0]).toSorted(), [
    'address',
    'createdAt',
    'current',
    'expiresAt',
    'id',
    'lastUsedAt',
    'userAgent',
  ]);
  t.same(
    (await list(phone)).map(({ current }) => current),
    [true, false],
  );
});

t.test('Expired sessions are not listed', async (t) => {
  await signUpAlice(app);
  clock.advance(7 * DAY_MS);
  t.equal((await list(await signInAgain('Phone/1.0'))).length, 1);
});

t.test('An ended session is invalid at once, and the others stay valid', async (t) => {
  const alice = await signUpAlice(app);
  const phone = await signInAgain('Phone/1.0');
  const [other] = (await list(alice)).filter(({ current }) => !current);
  const answer = await end(other?.id ?? '', alice);
  t.same([answer.statusCode, answer.json()], [200, { success: true, message: 'The session is ended.' }]);
  t.equal(answer.headers['set-cookie'], undefined);
  t.same([await isSignedIn(phone), await isSignedIn(alice)], [false, true]);
  t.equal((await end(other?.id ?? '', alice)).statusCode, 404, 'it cannot be ended twice');
});

t.test('Ending the current session signs out and clears the cookie', async (t) => {
  const alice = await signUpAlice(app);
  const [own] = await list(alice);
  const answer = await end(own?.id.toUpperCase() ?? '', alice);
  t.equal(answer.statusCode, 200);
  t.match(answer.headers['set-cookie'], /^local-session=; Max-Age=0; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  t.notOk(await isSignedIn(alice));
});

t.test('A stranger’s session is not found, and stays valid', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const [own] = await list(alice);
  const foreign = await end(own?.id ?? '', bob);
  const unknown = await end('00000000-0000-4000-8000-000000000000', bob);
  t.equal(foreign.statusCode, 404);
  t.same(foreign.json(), unknown.json());
  t.ok(await isSignedIn(alice));
  for (const id of ['1', 'x', '%00', `${own?.id}0`]) t.equal((await end(id, bob)).statusCode, 404, id);
});

t.test('A request without a session can neither list nor end sessions', async (t) => {
  for (const method of ['GET', 'DELETE'] as const) {
    const answer = await app.inject({
      method,
      url: method === 'GET' ? url : `${url}/00000000-0000-4000-8000-000000000000`,
    });
    t.equal(answer.statusCode, 401);
  }
});

t.test('An ended session is invalid in another process at once, for every way to end it', async (t) => {
  const { db, close } = connect(databaseUrl, { max: 2 });
  const replica = await buildApp({ ...ctx, db });
  t.teardown(async () => {
    await replica.close();
    await close();
  });
  const alice = await signUpAlice(app);
  const endings: Record<string, (mine: Shown) => Promise<unknown>> = {
    'ended by its owner': ({ id }) => end(id, alice),
    'all ended, as by a reset or a change of role': () => endUserSessions(ctx, alice.id),
    'the account was deactivated': () => ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id)),
    'the account was deleted': () => ctx.db.delete(users).where(eq(users.id, alice.id)),
  };
  for (const [what, ending] of Object.entries(endings)) {
    await ctx.db.update(users).set({ isActive: true });
    const phone = await signInAgain('Phone/1.0');
    t.ok(await isSignedIn(phone, replica));
    const [mine] = (await list(phone)).filter(({ current }) => current);
    await ending(mine as Shown);
    t.notOk(await isSignedIn(phone, replica), what);
  }
});

t.test('All sessions of a user can be ended except one', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const phone = await signInAgain('Phone/1.0');
  const [own] = (await list(alice)).filter(({ current }) => current);
  await endUserSessions(ctx, alice.id, { except: own?.id });
  t.same([await isSignedIn(alice), await isSignedIn(phone), await isSignedIn(bob)], [true, false, true]);
});
