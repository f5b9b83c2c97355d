import { createHash } from 'node:crypto';
import { apiKeys, auditLog, mails, sessions, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { endUserSessions } from '../../../src/product/auth/sessions.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { START, testContext } from '../../support/context.ts';
import { untilBlocked } from '../../support/database.ts';
import { createKey } from '../../support/keys.ts';
import { confirmSession, type Person, signUp, signUpAda } from '../../support/people.ts';

const { app, ctx, clock, logged } = await testContext(t);
const ada = await signUpAda(app);
let alice: Person;
let bob: Person;
t.beforeEach(async () => {
  clock.set(START);
  alice = await signUp(app, { name: 'Alice' });
  bob = await signUp(app, { name: 'Bob' });
});

type Headers = Record<string, string>;
const create = (headers: Headers, body: object) => app.inject({ method: 'POST', url: '/api/keys', headers, body });
const list = (headers: Headers, query = '') => app.inject({ url: `/api/keys${query}`, headers });
const change = (headers: Headers, id: string, body: object) =>
  app.inject({ method: 'PATCH', url: `/api/keys/${id}`, headers, body });
const remove = (headers: Headers, id: string) => app.inject({ method: 'DELETE', url: `/api/keys/${id}`, headers });

const KEY = { name: 'Nightly report', scopes: ['tasks:read', 'executions:read'] };
const NEXT_YEAR = '2027-11-20T10:00:00.000Z';

t.test('A key is returned with its secret once, and stored as a hash', async (t) => {
  const answer = await create(alice.headers, { ...KEY, expiresAt: '2027-11-20T11:00:00+01:00' });
  t.equal(answer.statusCode, 201);
  const { success, key, secret } = answer.json();
  t.equal(success, true);
  t.match(secret, /^crl_[0-9A-Za-z]{38}$/);
  t.same(key, {
    id: key.id,
    name: 'Nightly report',
    prefix: secret.slice(0, 12),
    scopes: ['tasks:read', 'executions:read'],
    expiresAt: NEXT_YEAR,
    lastUsedAt: null,
    createdAt: START.toISOString(),
  });
  const listed = await list(alice.headers);
  t.same(listed.json(), { success: true, keys: [key], pagination: { limit: 25, hasMore: false, nextCursor: null } });
  const [{ text } = { text: '' }] = (await ctx.db.execute(
    sql`select string_agg(k::text, '') as text from api_keys k`,
  )) as unknown as { text: string }[];
  t.ok(text.includes(secret.slice(0, 12)));
  t.ok(text.includes(createHash('sha256').update(secret).digest('hex')), 'its SHA-256 is stored');
  t.notOk(text.includes(secret.slice(0, 13)), 'nothing of the secret but its prefix is stored');
  t.notOk(JSON.stringify(logged).includes(secret.slice(0, 13)), 'nor logged');
});

t.test('A key without expiresAt does not expire, and the same scope twice counts once', async (t) => {
  const { key } = (await create(alice.headers, { name: 'x', scopes: ['tasks:read', 'tasks:read'] })).json();
  t.match(key, { expiresAt: null, scopes: ['tasks:read'] });
  t.equal((await create(alice.headers, { ...KEY, expiresAt: null })).json().key.expiresAt, null);
});

t.test('An invalid key is 400 and names the field', async (t) => {
  const wrong: [string, object][] = [
    ['name', { scopes: KEY.scopes }],
    ['name', { ...KEY, name: '' }],
    ['name', { ...KEY, name: ' ' }],
    ['name', { ...KEY, name: 'x'.repeat(101) }],
    ['scopes', { name: 'x' }],
    ['scopes', { ...KEY, scopes: [] }],
    ['scopes', { ...KEY, scopes: 'tasks:read' }],
    ['scopes', { ...KEY, scopes: ['everything'] }],
    ['expiresAt', { ...KEY, expiresAt: 'tomorrow' }],
    ['expiresAt', { ...KEY, expiresAt: START.toISOString() }],
    ['secret', { ...KEY, secret: 'crl_mine' }],
  ];
  for (const [field, body] of wrong) {
    const answer = await create(alice.headers, body);
    t.equal(answer.statusCode, 400, JSON.stringify(body));
    t.same(Object.keys(answer.json().details), [field]);
  }
  t.equal((await create(alice.headers, { name: 'x'.repeat(100), scopes: ['tasks:read'] })).statusCode, 201);
});

t.test('Only an administrator gives the scope admin', async (t) => {
  const body = { name: 'x', scopes: ['admin'] };
  t.match((await create(alice.headers, body)).json(), { success: false });
  t.equal((await create(alice.headers, body)).statusCode, 403);
  t.equal((await create(ada.headers, body)).statusCode, 201);
});

t.test('Of 40 keys that one user creates at once, 25 are created and the others are 402', async (t) => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => create(alice.headers, KEY)));
  const statuses = answers.map(({ statusCode }) => statusCode).sort();
  t.same(statuses, [...Array(25).fill(201), ...Array(15).fill(402)]);
  t.same((await create(alice.headers, KEY)).json(), {
    success: false,
    error: 'Quota exceeded',
    message: 'The quota of 25 apiKeys is used up.',
    details: { resource: 'apiKeys', used: 25, limit: 25, resetAt: null },
  });
  t.equal((await create(bob.headers, KEY)).statusCode, 201, 'others have their own');
  const [first] = (await list(alice.headers)).json().keys;
  await remove(alice.headers, first.id);
  t.equal((await create(alice.headers, KEY)).statusCode, 201, 'a deleted key makes room');
});

t.test('More than 30 creations in an hour are 429', async (t) => {
  const { app, ctx, clock } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const person = await signUp(app);
  const { headers } = person;
  for (let i = 0; i < 30; i++) {
    const answer = await app.inject({ method: 'POST', url: '/api/keys', headers, body: KEY });
    t.equal(answer.statusCode, 201);
    await ctx.db.delete(apiKeys);
  }
  t.equal((await app.inject({ method: 'POST', url: '/api/keys', headers, body: KEY })).statusCode, 429);
  clock.advance(3_600_000);
  await confirmSession(app, person);
  t.equal((await app.inject({ method: 'POST', url: '/api/keys', headers, body: KEY })).statusCode, 201);
});

t.test('The list is newest first, and its pages neither repeat nor skip keys of the same instant', async (t) => {
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) {
    ids.unshift((await createKey(app, alice)).id);
    if (i === 2) clock.advance(1000);
  }
  await createKey(app, bob);
  const whole = (await list(alice.headers)).json().keys.map(({ id }: { id: string }) => id);
  t.same([...whole].sort(), [...ids].sort());
  t.same(whole.slice(0, 4).sort(), ids.slice(0, 4).sort(), 'the later ones come first');
  const paged: string[] = [];
  let query = '?limit=3';
  for (const size of [3, 3, 1]) {
    const { keys, pagination } = (await list(alice.headers, query)).json();
    t.equal(keys.length, size);
    t.equal(pagination.hasMore, pagination.nextCursor !== null);
    paged.push(...keys.map(({ id }: { id: string }) => id));
    await remove(alice.headers, paged.at(-1) ?? '');
    query = `?limit=3&cursor=${pagination.nextCursor}`;
  }
  t.same(paged, whole, 'also if the last key of each page is deleted meanwhile');
});

t.test('A cursor that the list has not issued is 400', async (t) => {
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const at = START.toISOString();
  for (const cursor of [
    'x',
    encode(at),
    encode(`${at} 7`),
    encode(`${at}  00000000-0000-4000-8000-000000000001`),
    encode('9999999-01-01T00:00:00.000Z 00000000-0000-4000-8000-000000000001'),
  ]) {
    const answer = await list(alice.headers, `?cursor=${cursor}`);
    t.equal(answer.statusCode, 400, cursor);
    t.same(answer.json().details, { cursor: ['is not a cursor of this list'] });
  }
});

t.test('The name and the expiry of a key can be changed, and nothing else', async (t) => {
  const { id, secret } = await createKey(app, alice);
  const before = (await list(alice.headers)).json().keys[0];
  t.same((await change(alice.headers, id, { name: 'Weekly' })).json().key, { ...before, name: 'Weekly' });
  const changed = await change(alice.headers, id, { expiresAt: NEXT_YEAR });
  t.same(changed.json(), { success: true, key: { ...before, name: 'Weekly', expiresAt: NEXT_YEAR } });
  t.same((await change(alice.headers, id, {})).json().key, changed.json().key);
  t.equal((await change(alice.headers, id, { expiresAt: null })).json().key.expiresAt, null);
  for (const [field, body] of [
    ['scopes', { scopes: ['admin'] }],
    ['secret', { secret }],
    ['name', { name: null }],
    ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
  ] as const) {
    const answer = await change(alice.headers, id, body);
    t.equal(answer.statusCode, 400);
    t.same(Object.keys(answer.json().details), [field]);
  }
});

t.test("A stranger's key is not found", async (t) => {
  const { id } = await createKey(app, alice);
  for (const headers of [bob.headers, ada.headers]) {
    for (const answer of [await change(headers, id, { name: 'mine' }), await remove(headers, id)]) {
      t.equal(answer.statusCode, 404);
      t.same(answer.json(), { success: false, error: 'API key not found' });
    }
    t.notOk(JSON.stringify((await list(headers)).json()).includes(id));
  }
  t.equal((await remove(alice.headers, '00000000-0000-4000-8000-000000000009')).statusCode, 404);
  t.equal((await remove(alice.headers, 'x')).statusCode, 404);
  t.equal((await remove(alice.headers, id)).statusCode, 200);
  t.equal((await remove(alice.headers, id)).statusCode, 404);
});

t.test('A key with any scope creates, lists, changes and deletes no key', async (t) => {
  for (const person of [alice, ada]) {
    const key = await createKey(app, person);
    const tries = [
      await create(key.headers, KEY),
      await list(key.headers),
      await change(key.headers, key.id, { name: 'x' }),
      await remove(key.headers, key.id),
      await create(key.headers, {}),
    ];
    for (const answer of tries) {
      t.equal(answer.statusCode, 403);
      t.match(answer.json(), { success: false, error: 'Session required', message: /\S/ });
    }
    const { keys } = (await list(person.headers)).json();
    t.match(
      keys.find(({ id }: { id: string }) => id === key.id),
      { name: 'A program' },
    );
  }
});

t.test('Creation, change and deletion are in the audit log without the secret, and creation is mailed', async (t) => {
  const { id, secret } = await createKey(app, alice, { scopes: ['tasks:read'] });
  await change(alice.headers, id, { name: 'Weekly', expiresAt: NEXT_YEAR });
  await change(alice.headers, id, { name: 'Weekly' });
  await remove(alice.headers, id);
  const entries = await ctx.db.select().from(auditLog).where(eq(auditLog.userId, alice.id)).orderBy(auditLog.id);
  const about = { actorId: alice.id, actorEmail: alice.email, userId: alice.id, address: '127.0.0.1' };
  const details = { keyId: id, name: 'A program', prefix: secret.slice(0, 12), scopes: ['tasks:read'] };
  t.match(entries.slice(-3), [
    { kind: 'key.created', ...about, details },
    {
      kind: 'key.changed',
      ...about,
      details: {
        keyId: id,
        before: { name: 'A program', expiresAt: null },
        after: { name: 'Weekly', expiresAt: NEXT_YEAR },
      },
    },
    { kind: 'key.deleted', ...about, details: { ...details, name: 'Weekly' } },
  ]);
  t.notOk(JSON.stringify(entries).includes(secret.slice(0, 13)));
  const sent = await ctx.db.select().from(mails).where(eq(mails.userId, alice.id));
  t.match(sent, [{ recipient: alice.email, subject: 'An API key was created' }]);
});

t.test('A session that ends while it creates a key creates none', async (t) => {
  const own = await ctx.db.select().from(sessions).where(eq(sessions.userId, alice.id));
  t.equal(own.length, 1);
  let creating: ReturnType<typeof create> | undefined;
  await inTransaction(ctx, async (tx) => {
    await tx.db.select({ id: users.id }).from(users).where(eq(users.id, alice.id)).for('update');
    creating = create(alice.headers, KEY);
    void creating.then(() => {});
    await untilBlocked(ctx.db);
    await endUserSessions(tx, alice.id);
  });
  t.equal((await creating)?.statusCode, 401);
  t.equal(await ctx.db.$count(apiKeys, eq(apiKeys.userId, alice.id)), 0);
});
