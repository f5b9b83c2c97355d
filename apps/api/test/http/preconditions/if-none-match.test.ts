import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../../support/context.ts';
import { signUp } from '../../support/people.ts';
import { postTask, runDue } from '../../support/tasks.ts';
import { createResources, readETag } from './resources.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

t.test('A GET and the answer of a PATCH have the same strong ETag until something changes', async (t) => {
  const alice = await signUp(app);
  const { headers } = alice;
  for (const { name, url, changes } of await createResources(app, alice)) {
    const seen = new Set<unknown>();
    for (const payload of [null, ...changes]) {
      const changed = payload && (await app.inject({ method: 'PATCH', url, headers, payload }));
      const read = await app.inject({ url, headers });
      t.equal(read.statusCode, 200);
      t.match(read.headers.etag, /^"[\w-]+-\d+"$/, name);
      t.equal(read.headers['cache-control'], 'private, no-cache');
      t.notMatch(read.body, 'revision');
      if (changed) {
        t.equal(changed.headers.etag, read.headers.etag, `${name} after a change`);
        t.equal(changed.headers['cache-control'], 'no-store');
        t.notMatch(changed.body, 'revision');
      }
      t.equal(await readETag(app, alice, url), read.headers.etag, 'again');
      seen.add(read.headers.etag);
    }
    t.equal(seen.size, 3, `another one after each change of the ${name}`);
  }
});

t.test('GET and HEAD with a matching `If-None-Match` are 304 without a body', async (t) => {
  const alice = await signUp(app);
  for (const { name, url } of await createResources(app, alice)) {
    const etag = await readETag(app, alice, url);
    const compressed = etag.replace(/"$/, '-gzip"');
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, `"x",W/"y",${etag},`, '*', compressed, `W/${compressed}`]) {
      for (const method of ['GET', 'HEAD'] as const) {
        const answer = await app.inject({ method, url, headers: { ...alice.headers, 'if-none-match': known } });
        t.match(answer, { statusCode: 304, body: '' }, `${name} ${method} ${known}`);
        t.match(answer.headers, { etag, 'cache-control': 'private, no-cache', vary: 'Origin' });
        t.match(answer.headers, { 'content-type': undefined, 'x-request-id': /./, 'x-ratelimit-limit': /./ });
      }
    }
    for (const other of ['"x"', etag.replace(/"$/, '0"'), etag.toUpperCase(), '"", W/"x"']) {
      const answer = await app.inject({ url, headers: { ...alice.headers, 'if-none-match': other } });
      t.match(answer, { statusCode: 200, headers: { etag } }, `${name} ${other}`);
    }
  }
});

t.test('A malformed `If-None-Match` is 400 and named', async (t) => {
  const alice = await signUp(app);
  for (const { url } of await createResources(app, alice)) {
    for (const header of ['x', '"x', '"x" "y"', '*, "x"', '']) {
      const answer = await app.inject({ url, headers: { ...alice.headers, 'if-none-match': header } });
      t.equal(answer.statusCode, 400, header);
      t.match(answer.json(), { details: { 'If-None-Match': [/ETags in double quotes/] } });
      t.equal(answer.headers.etag, undefined);
    }
  }
});

t.test('A run changes the ETag of its task and, by its statistics, of the user', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  const urls = [`/api/tasks/${id}`, '/api/user'];
  const before = await Promise.all(urls.map((url) => readETag(app, alice, url)));
  clock.set('2026-11-20T11:00:00Z');
  await runDue(ctx);
  for (const [i, url] of urls.entries()) {
    const answer = await app.inject({ url, headers: { ...alice.headers, 'if-none-match': before[i] } });
    t.equal(answer.statusCode, 200, url);
    t.not(answer.headers.etag, before[i], url);
  }
  clock.set(START);
  const settings = await readETag(app, alice, '/api/user/settings');
  await postTask(app, alice);
  t.equal(await readETag(app, alice, '/api/user/settings'), settings, 'which show neither tasks nor runs');
});

t.test(
  'A pending e-mail address changes the ETags of the user and the settings, and expires in the settings',
  async (t) => {
    const alice = await signUp(app);
    await ctx.db.update(users).set({ passwordHash: null }).where(eq(users.id, alice.id));
    for (const url of ['/api/user', '/api/user/settings']) {
      const before = await readETag(app, alice, url);
      const payload = { email: `new-${url.length}@example.com` };
      const changed = await app.inject({ method: 'PATCH', url: '/api/user', headers: alice.headers, payload });
      t.equal(changed.statusCode, 200);
      const pending = await readETag(app, alice, url);
      t.not(pending, before, url);
      if (url === '/api/user') t.equal(changed.headers.etag, pending);
    }
    const pending = await readETag(app, alice, '/api/user/settings');
    clock.advance(61 * 60_000);
    t.not(await readETag(app, alice, '/api/user/settings'), pending, 'after an hour, without a change of the row');
  },
);

t.test('The ETag of one user does not stand for the account of another', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app)];
  for (const url of ['/api/user', '/api/user/settings']) {
    const known = await readETag(app, alice, url);
    const answer = await app.inject({ url, headers: { ...bob.headers, 'if-none-match': known } });
    t.equal(answer.statusCode, 200, url);
  }
});

t.test('No other answer has an ETag', async (t) => {
  const { headers } = await signUp(app);
  for (const url of ['/api/tasks', '/api/webhooks', '/api/usage', '/api/user/sessions', '/api/tasks/1', '/']) {
    t.equal((await app.inject({ url, headers })).headers.etag, undefined, url);
  }
});
