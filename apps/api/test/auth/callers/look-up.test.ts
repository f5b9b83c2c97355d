import { randomUUID } from 'node:crypto';
import { apiKeys, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import type { Credentials } from '../../../src/auth/callers/caller-queries.ts';
import { type FoundCaller, findCaller } from '../../../src/auth/callers/find-caller.ts';
import { generateApiKey, hashApiKey, toShownPrefix } from '../../../src/auth/keys/secret.ts';
import type { SessionClaims } from '../../../src/context.ts';
import { taskRow } from '../../../src/tasks/read.ts';
import { testContext } from '../../support/context.ts';
import { createKey } from '../../support/keys.ts';
import { type Person, signUp, signUpAlice, signUpBob } from '../../support/people.ts';
import { insertTask } from '../../support/task-rows.ts';

const { app, ctx } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
const gone = await signUp(app, { email: 'gone@example.com' });
await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, gone.id));
const task = await insertTask(ctx, alice.id);

const claimsOf = (person: Person) => ctx.tokens.verify(person.token, ctx.now()) as SessionClaims;
const count = (key: string) => ({ key, windowMs: 60_000, at: ctx.now() });

type Asked = [credentials: Parameters<typeof findCaller>[1], extras: Parameters<typeof findCaller>[2]];

const one = ([credentials, extras]: Asked) => findCaller(ctx, credentials, extras);
/** In one turn of the event loop, so that they share statements. */
const together = (asked: readonly Asked[]) => Promise.all(asked.map(one));

async function inTurn(asked: readonly Asked[]): Promise<(FoundCaller | null)[]> {
  const found: (FoundCaller | null)[] = [];
  for (const each of asked) found.push(await one(each));
  return found;
}

const withoutCounts = (found: readonly (FoundCaller | null)[]) => found.map((row) => row && { ...row, window: null });
const counts = (found: readonly (FoundCaller | null)[]) => found.map((row) => row?.window?.count);

t.test('Callers that are found together equal those that are found in turn', async (t) => {
  const load = (id: number) => ({ from: taskRow, id });
  const asked: Asked[] = [
    [claimsOf(alice), { count: count('same '), load: load(task) }],
    [claimsOf(bob), { count: count('same '), load: load(task) }],
    [claimsOf(gone), { count: count('same '), load: load(task) }],
    [claimsOf(alice), { count: count('same '), load: load(task + 1000) }],
    [
      { ...claimsOf(alice), sessionId: randomUUID() },
      { count: count('same '), load: load(task) },
    ],
    [
      { ...claimsOf(alice), userId: bob.id },
      { count: count('same '), load: load(task) },
    ],
    [claimsOf(alice), { load: load(task) }],
    [claimsOf(alice), { count: count('same ') }],
    [claimsOf(bob), {}],
  ];
  const found = await together(asked);
  t.strictSame(withoutCounts(found), withoutCounts(await inTurn(asked)));
  t.match(found[0]?.loaded, { id: task, userId: alice.id });
  t.equal(found[1]?.loaded, null, "another user's row is not found");
  t.equal(found[3]?.loaded, null);
  t.equal(found[2], null, 'the account is inactive');
  t.equal(found[4], null, 'there is no such session');
  t.equal(found[5], null, 'the session is of another user');
});

t.test('API keys that are looked up together equal those that are looked up in turn', async (t) => {
  const now = ctx.now();
  const insertKey = async (userId: number, expiresAt: Date | null) => {
    const secret = generateApiKey();
    const key = {
      id: randomUUID(),
      userId,
      name: 'A program',
      prefix: toShownPrefix(secret),
      expiresAt,
      createdAt: now,
    };
    await ctx.db.insert(apiKeys).values({ ...key, secretHash: hashApiKey(secret), scopes: ['tasks:read'] });
    return { keyHash: hashApiKey(secret) };
  };
  const own = await insertKey(alice.id, null);
  const other = await insertKey(bob.id, new Date(now.getTime() + 1));
  const asked: Asked[] = [
    [own, { count: count('key '), load: { from: taskRow, id: task } }],
    [other, { count: count('key '), load: { from: taskRow, id: task } }],
    [await insertKey(alice.id, now), { load: { from: taskRow, id: task } }],
    [await insertKey(gone.id, null), { load: { from: taskRow, id: task } }],
    [{ keyHash: hashApiKey(generateApiKey()) }, { load: { from: taskRow, id: task } }],
    [own, {}],
    [other, {}],
  ];
  const found = await together(asked);
  t.strictSame(withoutCounts(found), withoutCounts(await inTurn(asked)));
  t.match(found[0], { caller: { id: alice.id, apiKey: { scopes: ['tasks:read'] } }, loaded: { id: task } });
  t.match(found[1], { caller: { id: bob.id }, loaded: null });
  t.strictSame(found.slice(2, 5), [null, null, null], 'expired, of an inactive account, and unknown');
});

t.test('Requests that are counted together get the counts that they would get in turn', async (t) => {
  const mixed = Array.from({ length: 120 }, (_, n): Asked => {
    const person = n % 3 === 0 ? bob : alice;
    return [claimsOf(person), { count: count(n % 2 === 0 ? 'even ' : 'odd ') }];
  });
  const found = await together(mixed);
  const expected: Record<string, number> = {};
  const wanted = mixed.map(([, extras], n) => {
    const key = `${extras?.count?.key}${n % 3 === 0 ? bob.id : alice.id}`;
    expected[key] = (expected[key] ?? 0) + 1;
    return expected[key];
  });
  t.strictSame(
    counts(found).toSorted((a = 0, b = 0) => a - b),
    wanted.toSorted((a, b) => a - b),
    'each count once',
  );
  t.equal((await one([claimsOf(alice), { count: count('even ') }]))?.window?.count, 41);
});

t.test('An ended session is not counted', async (t) => {
  const unknown = { ...claimsOf(alice), sessionId: randomUUID() };
  const asked = Array.from({ length: 10 }, (): Asked => [unknown, { count: count('ended ') }]);
  t.strictSame(await together(asked), Array(10).fill(null));
  t.equal((await one([claimsOf(alice), { count: count('ended ') }]))?.window?.count, 1);
});

t.test('A window that has ended begins anew for all of a batch', async (t) => {
  const ended = { key: 'ending ', windowMs: 60_000, at: new Date(ctx.now().getTime() - 120_000) };
  await together(Array.from({ length: 5 }, (): Asked => [claimsOf(alice), { count: ended }]));
  const found = await together(Array.from({ length: 5 }, (): Asked => [claimsOf(alice), { count: count('ending ') }]));
  t.strictSame(counts(found).toSorted(), [1, 2, 3, 4, 5]);
});

t.test('With standbys each caller is found with the position of its changes, alone and together', async (t) => {
  const { app, ctx } = await testContext(t, { readsReplica: true });
  const people = [await signUp(app), await signUp(app), await signUp(app)];
  const keys = await Promise.all(people.map((person) => createKey(app, person)));
  for (const [n, { id }] of people.entries()) {
    await ctx.db.execute(sql`update event_positions set last_id = ${100 * n}, changes = ${n} where user_id = ${id}`);
  }
  const asked: Credentials[] = [
    ...people.map(({ token }) => ctx.tokens.verify(token, ctx.now()) as SessionClaims),
    ...keys.map(({ secret }) => ({ keyHash: hashApiKey(secret) })),
  ];
  const expected = [0, 101, 202, 0, 101, 202];
  const together = await Promise.all(asked.map((one) => findCaller(ctx, one)));
  t.strictSame(
    together.map((found) => found?.requester?.position),
    expected,
  );
  for (const [n, credentials] of asked.entries()) {
    const found = await findCaller(ctx, credentials);
    t.strictSame(found, together[n]);
    t.notOk('userPosition' in (found?.caller ?? {}));
  }
});
