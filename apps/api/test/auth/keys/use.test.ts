import { apiKeys, apiKeyUsage, settings } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { createApiKeyUse } from '../../../src/product/auth/keys/use.ts';
import { START, testContext } from '../../support/context.ts';
import { createKey } from '../../support/keys.ts';
import { type Person, signUp } from '../../support/people.ts';

const { app, ctx, clock } = await testContext(t);
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  alice = await signUp(app, { name: 'Alice' });
});

const ask = (headers: Record<string, string>, url = '/api/tasks') => app.inject({ url, headers });
const readUsage = async () => (await ask(alice.headers, '/api/usage')).json().usage.keys;
const lastUsedAt = async (id: string) =>
  (await ctx.db.select().from(apiKeys).where(eq(apiKeys.id, id)))[0]?.lastUsedAt ?? null;

t.test('The usage shows every key with its requests of the month, the most used first', async (t) => {
  clock.set('2026-11-30T23:00:00.000Z');
  alice = await signUp(app, { name: 'Alice' });
  const [first, second, unused] = [
    await createKey(app, alice),
    await createKey(app, alice),
    await createKey(app, alice),
  ];
  const bob = await signUp(app, { name: 'Bob' });
  await ask((await createKey(app, bob)).headers);
  for (const { headers } of [first, second, second]) await ask(headers);
  await ask(second.headers, '/api/keys');
  await ctx.apiKeyUse.flush();
  const row = ({ id }: { id: string }, requests: number) => ({ id, name: 'A program', requests });
  t.same(await readUsage(), [row(second, 3), row(first, 1), row(unused, 0)], 'a request that is 403 counts');
  clock.set('2026-12-01T00:00:00.000Z');
  await ask((await createKey(app, alice)).headers);
  t.same(
    (await readUsage()).filter(({ requests }: { requests: number }) => requests > 0),
    [],
    'each month begins at 0',
  );
  await ctx.apiKeyUse.flush();
  t.equal((await readUsage())[0].requests, 1);
});

t.test('Requests write nothing about their key until all are recorded by one statement', async (t) => {
  const { id, headers } = await createKey(app, alice);
  for (let i = 0; i < 20; i++) {
    clock.advance(100);
    await ask(headers);
  }
  t.equal(await lastUsedAt(id), null);
  t.equal(await ctx.db.$count(apiKeyUsage, eq(apiKeyUsage.keyId, id)), 0);
  await ctx.apiKeyUse.flush();
  t.same(await lastUsedAt(id), new Date(START.getTime() + 2000));
  t.match(await ctx.db.select().from(apiKeyUsage).where(eq(apiKeyUsage.keyId, id)), [
    { period: '2026-11', requests: 20 },
  ]);
  const [key] = (await ask(alice.headers, '/api/keys')).json().keys;
  t.equal(key.lastUsedAt, new Date(START.getTime() + 2000).toISOString());
});

t.test('Ten processes that record the same keys at once lose no request and do not block each other', async (t) => {
  const ids = await Promise.all(Array.from({ length: 5 }, async () => (await createKey(app, alice)).id));
  const processes = Array.from({ length: 10 }, () => createApiKeyUse(ctx.db));
  for (const [at, use] of processes.entries()) {
    const order = at % 2 === 0 ? ids : ids.toReversed();
    for (const id of order) for (let i = 0; i <= at; i++) use.count(id, new Date(START.getTime() + at));
  }
  await Promise.all(processes.map((use) => use.flush()));
  for (const id of ids) {
    t.match(await ctx.db.select().from(apiKeyUsage).where(eq(apiKeyUsage.keyId, id)), [{ requests: 55 }]);
    t.same(await lastUsedAt(id), new Date(START.getTime() + 9), 'the latest use counts');
  }
});

t.test('Counts wait for the next time if the database is unavailable, and a deleted key is left out', async (t) => {
  const [kept, deleted] = [await createKey(app, alice), await createKey(app, alice)];
  let isDown = true;
  const broken = new Proxy(ctx.db, {
    get: (db, name) =>
      name === 'execute' && isDown ? () => Promise.reject(new Error('The database is down.')) : Reflect.get(db, name),
  });
  const use = createApiKeyUse(broken);
  for (const { id } of [kept, kept, deleted]) use.count(id, START);
  await t.rejects(use.flush(), /down/);
  use.count(kept.id, START);
  isDown = false;
  await ctx.db.delete(apiKeys).where(eq(apiKeys.id, deleted.id));
  await use.flush();
  await use.flush();
  t.match(await ctx.db.select().from(apiKeyUsage).where(eq(apiKeyUsage.keyId, kept.id)), [{ requests: 3 }]);
  t.equal(await ctx.db.$count(apiKeyUsage, eq(apiKeyUsage.keyId, deleted.id)), 0);
});

t.test('A request that is rejected because of maintenance counts too', async (t) => {
  const { headers } = await createKey(app, alice);
  await ctx.db.update(settings).set({ maintenanceMode: true });
  t.equal((await ask(headers)).statusCode, 503);
  await ctx.db.update(settings).set({ maintenanceMode: false });
  await ctx.apiKeyUse.flush();
  t.match(await readUsage(), [{ requests: 1 }]);
});
