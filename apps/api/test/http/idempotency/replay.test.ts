import { apiKeys, idempotencyKeys, sessions, tasks, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { buildFingerprint } from '../../../src/platform/http/idempotency/stored-responses.ts';
import { pruneAll } from '../../../src/product/retention/prune.ts';
import { START, testContext } from '../../support/context.ts';
import { countTasks, createTaskWithKey, postWithKey, readKeys } from '../../support/idempotency.ts';
import { createKey } from '../../support/keys.ts';
import { PASSWORD, signUp, signUpAda, signUpAlice, signUpBob } from '../../support/people.ts';
import { patchTask, postTask, readTask, TASK } from '../../support/tasks.ts';
import { WEBHOOK } from '../../support/webhooks.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
const ada = await signUpAda(app);
const A_SECRET = /^whsec_/;
const HOUR_MS = 60 * 60_000;

t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(tasks);
  await ctx.db.delete(idempotencyKeys);
});

t.test('A repeated request gets the stored status, body and Location, and changes nothing', async (t) => {
  const first = await createTaskWithKey(app, alice, 'one');
  t.equal(first.statusCode, 201, first.body);
  t.notOk('idempotent-replayed' in first.headers);
  const again = await createTaskWithKey(app, alice, 'one');
  t.equal(again.statusCode, 201);
  t.equal(again.body, first.body);
  t.equal(again.headers.location, first.headers.location);
  t.equal(again.headers['content-type'], first.headers['content-type']);
  t.equal(again.headers['idempotent-replayed'], 'true');
  t.equal(await countTasks(ctx, alice), 1);
});

t.test('The answer is the first one, although the resource has changed or is deleted', async (t) => {
  const first = await createTaskWithKey(app, alice, 'changed');
  const { taskId } = first.json();
  await patchTask(app, alice, taskId, { name: 'Another name' });
  await app.inject({ method: 'DELETE', url: `/api/tasks/${taskId}`, headers: alice.headers });
  t.equal((await createTaskWithKey(app, alice, 'changed')).body, first.body);
});

t.test('Each repetition has its own X-Request-ID and rate limit', async (t) => {
  const first = await createTaskWithKey(app, alice, 'ids');
  const again = await createTaskWithKey(app, alice, 'ids');
  t.not(again.headers['x-request-id'], first.headers['x-request-id']);
  const left = [first, again].map(({ headers }) => Number(headers['x-ratelimit-remaining']));
  t.equal(left[1], Number(left[0]) - 1, 'a replay counts');
});

t.test('The order of the fields of a body does not matter, their values do', async (t) => {
  const first = await createTaskWithKey(app, alice, 'order');
  const reversed = Object.fromEntries(Object.entries(TASK).reverse());
  const again = await postWithKey(app, alice, '/api/agent/create-task', 'order', JSON.stringify(reversed));
  t.equal(again.statusCode, 400, 'without a content type there is no JSON');
  const headers = { ...alice.headers, 'idempotency-key': 'order', 'content-type': 'application/json' };
  const payload = ` ${JSON.stringify(reversed, null, 2)}`;
  const same = await app.inject({ method: 'POST', url: '/api/agent/create-task', headers, payload });
  t.equal(same.body, first.body);
  t.equal(buildFingerprint({ a: [{ b: 1, c: 2 }], d: 'x' }), buildFingerprint({ d: 'x', a: [{ c: 2, b: 1 }] }));
  const different = [undefined, null, {}, [], [1, 2], [2, 1], { a: 1 }, { a: '1' }, { a: { b: 1 } }, { a: null }, 'a'];
  t.equal(new Set(different.map(buildFingerprint)).size, different.length);
});

t.test('The same key with another body is 422 and changes nothing', async (t) => {
  await createTaskWithKey(app, alice, 'reused');
  const other = await createTaskWithKey(app, alice, 'reused', { name: 'Evening news' });
  t.equal(other.statusCode, 422);
  t.match(other.json(), {
    success: false,
    error: 'Idempotency key reused',
    message: String,
  });
  t.notOk('idempotent-replayed' in other.headers);
  t.equal(await countTasks(ctx, alice), 1);
});

t.test('A key belongs to its user, method and path', async (t) => {
  const task = await postTask(app, alice);
  const other = await postTask(app, alice);
  const execute = (id: number) => postWithKey(app, alice, `/api/tasks/${id}/execute`, 'shared');
  const first = await execute(task);
  t.equal((await execute(task)).body, first.body);
  t.not((await execute(other)).body, first.body, 'another id is another path');
  t.equal((await postWithKey(app, alice, `/api/tasks/${task}/duplicate`, 'shared')).statusCode, 201);
  t.equal((await createTaskWithKey(app, alice, 'shared')).headers['idempotent-replayed'], undefined);
  const ofBob = await createTaskWithKey(app, bob, 'shared');
  t.equal(ofBob.statusCode, 201);
  t.equal(ofBob.headers['idempotent-replayed'], undefined, "another user's answer is not replayed");
  t.equal((await postWithKey(app, bob, `/api/tasks/${task}/execute`, 'shared')).statusCode, 404);
  const method = await app.inject({
    method: 'PATCH',
    url: `/api/tasks/${task}`,
    headers: { ...alice.headers, 'idempotency-key': 'shared' },
    payload: { name: 'Renamed' },
  });
  t.equal(method.statusCode, 200);
  t.match(await readTask(app, alice, task), { name: 'Renamed' }, 'other methods ignore the header');
});

t.test('A spelling of the path is the same path, and the query does not belong to it', async (t) => {
  const task = await postTask(app, alice);
  const first = await postWithKey(app, alice, `/api/tasks/${task}/execute`, 'spelling');
  const encoded = `%3${String(task)[0]}${String(task).slice(1)}`;
  for (const url of [`/api/tasks/${encoded}/execute`, `/api/tasks/${task}/execute?x=1`]) {
    const again = await postWithKey(app, alice, url, 'spelling');
    t.equal(again.body, first.body, url);
    t.equal(again.headers['idempotent-replayed'], 'true', url);
  }
});

t.test('A replay needs the access that the request needs', async (t) => {
  const admin = await signUp(app, { name: 'Grace', role: 'ADMIN' });
  const first = await postWithKey(app, admin, '/api/admin/coupons', 'coupon', {});
  t.equal(first.statusCode, 201, first.body);
  const without = { ...admin, headers: { authorization: admin.headers.authorization } };
  t.equal((await postWithKey(app, without, '/api/admin/coupons', 'coupon', {})).statusCode, 403, 'without its key');
  await ctx.db.update(users).set({ role: 'USER' }).where(eq(users.id, admin.id));
  t.equal((await postWithKey(app, admin, '/api/admin/coupons', 'coupon', {})).statusCode, 403, 'no admin any more');
  await ctx.db.update(users).set({ role: 'ADMIN' }).where(eq(users.id, admin.id));
  t.equal((await postWithKey(app, admin, '/api/admin/coupons', 'coupon', {})).body, first.body);
  t.equal((await postWithKey(app, ada, '/api/admin/coupons', 'coupon', {})).headers['idempotent-replayed'], undefined);
  await ctx.db.delete(sessions).where(eq(sessions.userId, admin.id));
  t.equal((await postWithKey(app, admin, '/api/admin/coupons', 'coupon', {})).statusCode, 401, 'without a session');
});

t.test('An API key reads no stored answer without the scope of the request', async (t) => {
  const [writer, reader] = await Promise.all([
    createKey(app, alice, { scopes: ['tasks:write'] }),
    createKey(app, alice, { scopes: ['tasks:read'] }),
  ]);
  const as = ({ headers }: { headers: { authorization: string } }) => ({ ...alice, headers });
  const first = await createTaskWithKey(app, as(writer), 'scoped');
  t.equal(first.statusCode, 201, first.body);
  const refused = await createTaskWithKey(app, as(reader), 'scoped');
  t.match(refused, { statusCode: 403, headers: { 'idempotent-replayed': undefined } });
  t.match(refused.json(), { error: 'Missing scope', details: { scope: 'tasks:write' } });
  t.equal((await createTaskWithKey(app, as(reader), 'unscoped')).statusCode, 403);
  t.equal((await readKeys(ctx, alice)).length, 1, 'and claims nothing');
  t.equal((await createTaskWithKey(app, as(writer), 'scoped')).body, first.body);
  t.equal((await createTaskWithKey(app, alice, 'scoped')).body, first.body, 'the session of the same user repeats it');
  await ctx.db
    .update(apiKeys)
    .set({ scopes: ['tasks:read'] })
    .where(eq(apiKeys.id, writer.id));
  t.equal((await createTaskWithKey(app, as(writer), 'scoped')).statusCode, 403, 'a key that has lost its scope');
  await app.inject({ method: 'DELETE', url: `/api/keys/${writer.id}`, headers: alice.headers });
  t.equal((await createTaskWithKey(app, as(writer), 'scoped')).statusCode, 401, 'a deleted key');
  t.equal(await countTasks(ctx, alice), 1);
});

t.test('The secret of an API key is repeated, for a session only', async (t) => {
  const payload = { name: 'A program', scopes: ['tasks:write'] };
  const first = await postWithKey(app, alice, '/api/keys', 'new-key', payload);
  t.match(first.json().secret, /^crl_/);
  t.equal((await postWithKey(app, alice, '/api/keys', 'new-key', payload)).body, first.body);
  t.notMatch(JSON.stringify(await readKeys(ctx, alice)), first.json().secret);
  const key = { ...alice, headers: { authorization: `Bearer ${first.json().secret}` } };
  t.equal((await postWithKey(app, key, '/api/keys', 'new-key', payload)).statusCode, 403);
});

t.test('A refused caller leaves no claim behind', async (t) => {
  const { headers } = ada;
  const without = { ...ada, headers: { authorization: headers.authorization } };
  t.equal((await postWithKey(app, without, '/api/admin/coupons', 'refused', {})).statusCode, 403);
  t.same(await readKeys(ctx, ada), []);
  t.equal((await postWithKey(app, ada, '/api/admin/coupons', 'refused', {})).statusCode, 201);
});

t.test('Only a success is stored: a failed request may be corrected under the same key', async (t) => {
  const wrong = await createTaskWithKey(app, alice, 'failed', { scheduledFor: 'tomorrow' });
  t.equal(wrong.statusCode, 400);
  t.same(await readKeys(ctx, alice), []);
  const broken = await app.inject({
    method: 'POST',
    url: '/api/agent/create-task',
    headers: { ...alice.headers, 'idempotency-key': 'failed', 'content-type': 'application/json' },
    payload: '{"name":',
  });
  t.equal(broken.statusCode, 400);
  t.same(await readKeys(ctx, alice), []);
  t.equal((await postWithKey(app, alice, '/api/tasks/1/execute', 'failed')).statusCode, 404);
  t.same(await readKeys(ctx, alice), []);
  t.equal((await createTaskWithKey(app, alice, 'failed')).statusCode, 201);
});

t.test('A change whose answer cannot be stored is rolled back', async (t) => {
  await ctx.db.execute(sql`alter table idempotency_keys add constraint refuses_answers check (status is null)`);
  t.teardown(() => ctx.db.execute(sql`alter table idempotency_keys drop constraint refuses_answers`));
  const answer = await createTaskWithKey(app, alice, 'unsealed');
  t.equal(answer.statusCode, 500);
  t.equal(answer.headers.location, undefined);
  t.equal(await countTasks(ctx, alice), 0);
  t.same(await readKeys(ctx, alice), []);
});

t.test('A key is one header of 1 to 255 visible ASCII characters', async (t) => {
  for (const key of ['', ' ', 'two words', 'ümlaut', 'a'.repeat(256), 'tab\tbed', '\x7f']) {
    const answer = await createTaskWithKey(app, alice, key);
    t.equal(answer.statusCode, 400, JSON.stringify(key));
    t.same(Object.keys(answer.json().details), ['idempotency-key']);
  }
  const several = await app.inject({
    method: 'POST',
    url: '/api/agent/create-task',
    headers: { ...alice.headers, 'idempotency-key': ['a', 'b'] } as never,
    payload: TASK,
  });
  t.equal(several.statusCode, 400);
  t.equal(await countTasks(ctx, alice), 0);
  t.same(await readKeys(ctx, alice), []);
  for (const key of ['~!"#', 'a'.repeat(255)]) t.equal((await createTaskWithKey(app, alice, key)).statusCode, 201, key);
});

t.test('Secrets are repeated, and stored encrypted only', async (t) => {
  const send = () => postWithKey(app, alice, '/api/webhooks', 'webhook', WEBHOOK);
  const first = await send();
  const { id, secret } = first.json().webhook;
  t.match(secret, A_SECRET);
  t.equal((await send()).body, first.body, 'with its secret');
  const rotate = () => postWithKey(app, alice, `/api/webhooks/${id}/rotate-secret`, 'rotate');
  const rotated = await rotate();
  t.not(rotated.json().webhook.secret, secret);
  t.equal((await rotate()).body, rotated.body, 'which is not rotated again');
  const payload = { currentPassword: PASSWORD, newPassword: 'Another-2026' };
  t.equal((await postWithKey(app, bob, '/api/user/password', 'password', payload)).statusCode, 200);
  const rows = JSON.stringify([...(await readKeys(ctx, alice)), ...(await readKeys(ctx, bob))]);
  t.notMatch(rows, secret);
  t.notMatch(rows, 'Another-2026');
  t.notMatch(rows, buildFingerprint(payload), 'a fingerprint of a password would be guessed');
  t.notMatch(rows, '"password"');
});

t.test('A stored answer cannot be moved to another row', async (t) => {
  const first = await createTaskWithKey(app, alice, 'source');
  await createTaskWithKey(app, bob, 'target');
  const [source] = await readKeys(ctx, alice);
  await ctx.db
    .update(idempotencyKeys)
    .set({ answerEncrypted: source?.answerEncrypted ?? null })
    .where(eq(idempotencyKeys.userId, bob.id));
  const moved = await createTaskWithKey(app, bob, 'target');
  t.equal(moved.statusCode, 409);
  t.notMatch(moved.body, first.body);
});

t.test('A wrong password counts as an attempt, with a key too', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  const payload = { currentPassword: 'wrong', newPassword: 'Another-2026' };
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) {
    statuses.push((await postWithKey(app, carol, '/api/user/password', `guess-${i}`, payload)).statusCode);
  }
  // The multiplier of the tests keeps limits out of the way: the counter has to rise.
  t.same(new Set(statuses), new Set([400]));
  const counted = await ctx.db.execute(`select sum(count)::int as n from rate_windows where key like '%password%'`);
  t.ok(Number((counted as unknown as { n: number }[])[0]?.n) >= 6, JSON.stringify(counted));
});

t.test('An answer is repeated for 24 hours, and its key can be used again afterwards', async (t) => {
  const first = await createTaskWithKey(app, alice, 'old');
  clock.advance(24 * HOUR_MS - 1);
  const scheduledFor = new Date(START.getTime() + 48 * HOUR_MS).toISOString();
  t.equal((await createTaskWithKey(app, alice, 'old')).body, first.body);
  clock.advance(1);
  const next = await createTaskWithKey(app, alice, 'old', { scheduledFor });
  t.equal(next.statusCode, 201);
  t.not(next.body, first.body);
  t.equal((await createTaskWithKey(app, alice, 'old', { scheduledFor })).body, next.body);
  clock.advance(25 * HOUR_MS);
  await pruneAll(ctx);
  t.same(await readKeys(ctx, alice), []);
});

t.test('RETENTION_IDEMPOTENCY_HOURS is how long an answer is repeated', async (t) => {
  const { app, clock } = await testContext(t, { env: { RETENTION_IDEMPOTENCY_HOURS: '2' } });
  const person = await signUp(app);
  const first = await createTaskWithKey(app, person, 'short');
  const scheduledFor = new Date(START.getTime() + 48 * HOUR_MS).toISOString();
  clock.advance(2 * HOUR_MS - 1);
  t.equal((await createTaskWithKey(app, person, 'short', { scheduledFor })).statusCode, 422);
  t.equal((await createTaskWithKey(app, person, 'short')).body, first.body);
  clock.advance(1);
  t.equal((await createTaskWithKey(app, person, 'short', { scheduledFor })).statusCode, 201);
});

t.test('The keys of an account are deleted with it', async (t) => {
  const dora = await signUp(app, { name: 'Dora' });
  await createTaskWithKey(app, dora, 'gone');
  const payload = { currentPassword: PASSWORD };
  const deleted = await app.inject({ method: 'DELETE', url: '/api/user', headers: dora.headers, payload });
  t.equal(deleted.statusCode, 200, deleted.body);
  t.same(await readKeys(ctx, dora), []);
});

t.test(
  'A web application of another origin may send the header and read that the answer is a repetition',
  async (t) => {
    const origin = 'https://app.example.com';
    const { app } = await testContext(t, { env: { CORS_ORIGINS: origin } });
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/api/agent/create-task',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    t.match(preflight.headers['access-control-allow-headers'], /Idempotency-Key/);
    t.match(preflight.headers['access-control-expose-headers'], /Idempotent-Replayed/);
  },
);
