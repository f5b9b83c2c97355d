import { secrets } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { createKey } from '../support/keys.ts';
import { type Person, signUp } from '../support/people.ts';

const { app, ctx, logged } = await testContext(t, { env: { LOG_LEVEL: 'trace' } });
let alice: Person;
let bob: Person;
t.beforeEach(async () => {
  alice = await signUp(app, { name: 'Alice' });
  bob = await signUp(app, { name: 'Bob' });
});

type Headers = Record<string, string>;
const create = (headers: Headers, body: object) => app.inject({ method: 'POST', url: '/api/secrets', headers, body });
const list = (headers: Headers) => app.inject({ url: '/api/secrets', headers });
const remove = (headers: Headers, id: string) => app.inject({ method: 'DELETE', url: `/api/secrets/${id}`, headers });

const SECRET = { name: 'tracker', host: 'API.Example.com:8443', header: 'Authorization', value: 'Bearer Hidden123456' };

t.test('A secret is stored encrypted, and its value is never returned or logged', async (t) => {
  const created = await create(alice.headers, SECRET);
  t.equal(created.statusCode, 201);
  const { secret } = created.json();
  t.same(created.json(), {
    success: true,
    secret: {
      id: secret.id,
      name: 'tracker',
      host: 'api.example.com:8443',
      header: 'Authorization',
      createdAt: START.toISOString(),
      lastUsedAt: null,
    },
  });
  t.same((await list(alice.headers)).json(), { success: true, secrets: [secret] });
  const rows = await ctx.db.execute(sql`select (select string_agg(s::text, '') from secrets s)
    || (select string_agg(a::text, '') from audit_log a) as text`);
  t.notMatch(JSON.stringify(rows), 'Hidden123456');
  t.notMatch(JSON.stringify(logged), 'Hidden123456');
  const gone = await remove(alice.headers, secret.id);
  t.same([gone.statusCode, gone.json()], [200, { success: true, message: 'The secret is deleted.' }]);
  t.equal((await remove(alice.headers, secret.id)).statusCode, 404);
});

t.test('A secret is for its owner with a session', async (t) => {
  const { secret } = (await create(alice.headers, SECRET)).json();
  t.same((await list(bob.headers)).json().secrets, []);
  t.equal((await remove(bob.headers, secret.id)).statusCode, 404);
  const { headers } = await createKey(app, alice);
  for (const answer of [await create(headers, SECRET), await list(headers), await remove(headers, secret.id)]) {
    t.equal(answer.statusCode, 403);
  }
  t.equal((await create(bob.headers, SECRET)).statusCode, 201, 'the name is free in another account');
});

t.test('A name is taken once, and an account has 20 secrets, also if they come at once', async (t) => {
  const answers = await Promise.all([create(alice.headers, SECRET), create(alice.headers, SECRET)]);
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, 409]);
  const more = await Promise.all(
    Array.from({ length: 25 }, (_, at) => create(alice.headers, { ...SECRET, name: `s${at}` })),
  );
  t.equal(more.filter(({ statusCode }) => statusCode === 201).length, 19);
  t.equal(more.filter(({ statusCode }) => statusCode === 402).length, 6);
  t.match(more.find(({ statusCode }) => statusCode === 402)?.json(), {
    error: 'Quota exceeded',
    details: { resource: 'secrets', used: 20, limit: 20 },
  });
  t.equal(await ctx.db.$count(secrets, eq(secrets.userId, alice.id)), 20);
});

t.test('What could change another part of the request is refused, and the field named', async (t) => {
  const wrong: Record<string, string[]> = {
    name: ['', 'A', '1a', 'a-b', 'a'.repeat(33)],
    host: [
      '',
      'https://a.example',
      'a.example/path',
      'u@a.example',
      'a.example:',
      'a.example:0',
      'a b',
      'a.example:65536',
      '::1',
    ],
    header: ['', 'Host', 'host', 'Content-Length', 'Transfer-Encoding', 'Accept-Encoding', 'X Y', 'X:Y', 'X\r\nY', 'é'],
    value: ['', 'a\r\nX: y', 'a\n', '\ta', 'ü', ' a', 'a'.repeat(4001)],
  };
  for (const [field, values] of Object.entries(wrong)) {
    for (const value of values) {
      const answer = await create(alice.headers, { ...SECRET, [field]: value });
      t.same([answer.statusCode, Object.keys(answer.json().details ?? {})], [400, [field]], `${field}: ${value}`);
      t.notMatch(answer.body, 'Hidden123456');
    }
  }
  for (const [at, host] of ['127.0.0.1:8080', '[::1]:80', 'localhost', 'bücher.example'].entries()) {
    t.equal((await create(alice.headers, { ...SECRET, name: `h${at}`, host })).statusCode, 201, host);
  }
});
