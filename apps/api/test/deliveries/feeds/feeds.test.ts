import { EXPORT_PARTS } from '@carillon/contract/actions/web/settings';
import { auditLog, executions, feeds, tasks, users } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import type { Caller } from '../../../src/context.ts';
import { NO_METRICS } from '../../../src/lib/telemetry/metrics.ts';
import { deleteUserApiKeys } from '../../../src/product/auth/keys/write.ts';
import { getTaskWithRuns } from '../../../src/product/tasks/task-page.ts';
import { readExport, startExport } from '../../../src/product/users/export-account.ts';
import { getSettingsPage } from '../../../src/product/users/read.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { testContext } from '../../support/context.ts';
import { countStatements, untilBlocked } from '../../support/database.ts';
import { createKey } from '../../support/keys.ts';
import { confirmSession, findCallerByToken, PASSWORD, signUp, signUpAlice, signUpBob } from '../../support/people.ts';
import { insertTask } from '../../support/task-rows.ts';
import { INVALID_IDS } from '../../support/tasks.ts';
import { deleteFeedOf, insertRun, parseFeed, postFeed } from './support.ts';

const labels: unknown[] = [];
const metrics = { ...NO_METRICS, requestAnswered: (request: unknown) => labels.push(request) };
const { app, ctx, clock, logged } = await testContext(t, { metrics, env: { LOG_LEVEL: 'trace' } });
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
const taskId = await insertTask(ctx, alice.id, { name: 'Morning <news>' });

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
const NOT_FOUND = { success: false, error: 'Feed not found' };
const readFeedDate = async (caller: Caller, task: number | undefined) =>
  (await (task === undefined ? getSettingsPage(ctx, caller) : getTaskWithRuns(ctx, caller, task))).feedCreatedAt;
const MAKES_FEEDS = ['tasks:write', 'executions:read'] as const;
const make = (headers: Record<string, string>) =>
  app.inject({ method: 'POST', url: `/api/tasks/${taskId}/feed`, headers });

t.test('A feed has the results of its task, newest first, and that of the account those of all tasks', async (t) => {
  const other = await insertTask(ctx, alice.id, { name: 'Evening' });
  const strange = await insertTask(ctx, bob.id);
  const first = await insertRun(ctx, alice, taskId, { result: '**Good** morning' });
  clock.advance(60_000);
  const second = await insertRun(ctx, alice, other, { result: 'Good evening' });
  await insertRun(ctx, alice, taskId, { status: 'failed', errorCode: 'TIMEOUT', error: 'Too late.', result: null });
  await insertRun(ctx, bob, strange, { result: 'Of Bob' });
  const created = await app.inject({ method: 'POST', url: `/api/tasks/${taskId}/feed`, headers: alice.headers });
  t.equal(created.statusCode, 201);
  t.match(created.json().url, new RegExp(`^${ctx.config.baseUrl}/feeds/[A-Za-z0-9_-]{43}\\.atom$`));
  t.same(Object.keys(created.json()), ['success', 'url']);
  const answer = await get(new URL(created.json().url).pathname);
  t.equal(answer.statusCode, 200);
  t.match(answer.headers, {
    'content-type': 'application/atom+xml; charset=utf-8',
    'cache-control': /^private/,
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    etag: /^"[\w-]{22}"$/,
  });
  const feed = parseFeed(answer.body);
  t.match(feed, { title: 'Carillon: Morning <news>', updated: '2026-11-20T10:00:00.000Z' });
  t.match(feed.entries, [
    {
      title: 'Morning <news>',
      link: `${ctx.config.appUrl}/executions/${first}`,
      content: '<p><strong>Good</strong> morning</p>',
    },
  ]);
  const account = parseFeed((await get(await postFeed(app, alice))).body);
  t.match(account, { title: 'Carillon: all answers', updated: '2026-11-20T10:01:00.000Z' });
  const ids = [second, first].map((id) => `${ctx.config.appUrl}/executions/${id}`);
  t.same(
    account.entries.map(({ id }) => id),
    ids,
  );
  t.not(account.id, feed.id);
  const empty = parseFeed((await get(await postFeed(app, await signUp(app)))).body);
  t.match(empty, { entries: [], updated: ctx.now().toISOString() });
});

t.test('A change is shown as such', async (t) => {
  const changes = [
    { path: 'price', from: 12.5, to: 11.9 },
    { path: 'text', from: '<b>', to: 'c \ud800' },
  ];
  const changed = await insertTask(ctx, alice.id, { name: 'Price' });
  await insertRun(ctx, alice, changed, { result: '{"price": "<i>"}', output: { price: 11.9 }, changed: true, changes });
  const { entries } = parseFeed((await get(await postFeed(app, alice, changed))).body);
  t.equal(entries[0]?.title, 'Price: the answer changed');
  t.match(entries[0]?.content, /^<h4>What changed<\/h4>\n<ul><li><p>price: <code>12\.5<\/code> → <code>11\.9<\/code>/);
  t.match(entries[0]?.content, /<code>&quot;&lt;b&gt;&quot;<\/code>/);
  t.match(
    entries[0]?.content,
    /<h4>The answer<\/h4>\n<pre><code>{&quot;price&quot;: &quot;&lt;i&gt;&quot;}<\/code><\/pre>$/,
  );
});

t.test('An unchanged feed is 304 after one statement, and changes with each result and name', async (t) => {
  const mine = await insertTask(ctx, alice.id, { name: 'Tagged' });
  const run = await insertRun(ctx, alice, mine);
  const url = await postFeed(app, alice, mine);
  const readTag = async () => String((await get(url)).headers.etag);
  const etag = await readTag();
  t.equal(await readTag(), etag, 'it is stable');
  for (const header of [etag, `W/${etag}`, `"x", ${etag}`, `${etag.slice(0, -1)}-gzip"`, '*']) {
    const unchanged = await get(url, { 'if-none-match': header });
    t.equal(unchanged.statusCode, 304, header);
    t.equal(unchanged.body, '');
    t.match(unchanged.headers, { etag, 'cache-control': /^private/ });
  }
  for (const header of ['"another"', 'malformed', ''])
    t.equal((await get(url, { 'if-none-match': header })).statusCode, 200);
  const stop = countStatements(ctx.db);
  await get(url, { 'if-none-match': etag });
  t.equal(stop(), 3, 'with those of the limit by address and of the maintenance mode');
  const tags = new Set([etag]);
  const expectAnother = async (what: string) => {
    const next = await readTag();
    t.notOk(tags.has(next), what);
    tags.add(next);
  };
  await insertRun(ctx, alice, mine);
  await expectAnother('another result');
  await ctx.db.update(tasks).set({ name: 'Renamed' }).where(eq(tasks.id, mine));
  await expectAnother('another name');
  await ctx.db.delete(executions).where(eq(executions.id, run));
  await expectAnother('one result less');
  await insertRun(ctx, alice, mine, { status: 'failed', errorCode: 'TIMEOUT', error: 'Too late.' });
  t.ok(tags.has(await readTag()), 'a failure is not shown');
});

/** Of the statement that reads the texts, as its columns are. */
const READS_RESULTS = /"citations"/;

t.test('A feed is rendered once for all its readers, also at once, and never shown after it has ended', async (t) => {
  const mine = await insertTask(ctx, alice.id, { name: 'Often read' });
  const cells = 2500;
  const result = `${'|a'.repeat(cells)}|\n${'|-'.repeat(cells)}|\n${'|x\n'.repeat(3000)}`;
  for (let run = 0; run < 10; run++) await insertRun(ctx, alice, mine, { result });
  const url = await postFeed(app, alice, mine);
  const countOf = async (readers: number) => {
    const stop = countStatements(ctx.db, READS_RESULTS);
    const bodies = (await Promise.all(Array.from({ length: readers }, () => get(url)))).map(({ body }) => body);
    t.equal(new Set(bodies).size, 1);
    return { statements: stop(), body: bodies[0] as string };
  };
  const first = await countOf(8);
  t.equal(first.statements, 1, 'the results are read once');
  const second = await countOf(8);
  t.equal(second.statements, 0);
  t.equal(second.body, first.body);
  t.ok(first.body.length < 10 * 60_000, 'the table was not filled up');
  await insertRun(ctx, alice, mine, { result: 'Another' });
  t.not((await countOf(2)).body, first.body);
  await deleteFeedOf(app, alice, mine);
  t.equal((await get(url)).statusCode, 404);
});

t.test('HEAD has the headers of GET and no body', async (t) => {
  const url = await postFeed(app, alice, taskId);
  const [head, whole] = [await app.inject({ method: 'HEAD', url }), await get(url)];
  t.equal(head.statusCode, 200);
  t.equal(head.body, '');
  for (const name of ['etag', 'content-type', 'content-length']) t.equal(head.headers[name], whole.headers[name], name);
});

t.test('Another address ends the previous one, and of many at once exactly one works', async (t) => {
  for (const task of [taskId, undefined]) {
    const first = await postFeed(app, alice, task);
    const all = await Promise.all(Array.from({ length: 8 }, () => postFeed(app, alice, task)));
    t.equal(new Set(all).size, 8);
    const statuses = await Promise.all([first, ...all].map(async (url) => (await get(url)).statusCode));
    t.equal(statuses[0], 404);
    t.same(
      statuses.filter((status) => status === 200),
      [200],
      String(statuses),
    );
  }
  t.equal(await ctx.db.$count(feeds, eq(feeds.taskId, taskId)), 1);
});

t.test('An unknown, ended, malformed address, and one of a deactivated account get the same 404', async (t) => {
  const deleted = await postFeed(app, alice, taskId);
  t.match((await deleteFeedOf(app, alice, taskId)).json(), { success: true, message: /\S/ });
  const gone = await signUp(app);
  const deactivated = await postFeed(app, gone);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, gone.id));
  const secret = 'A'.repeat(43);
  const others = [
    secret,
    'x',
    '%00',
    '%ff',
    '%2e%2e',
    `${secret}%20`,
    "'",
    `${secret}A`,
    encodeURIComponent('ä'.repeat(20)),
  ];
  for (const url of [deleted, deactivated, ...others.map((one) => `/feeds/${one}.atom`)]) {
    const answer = await get(url);
    if (url.includes('%ff')) t.equal(answer.statusCode, 400, 'no text');
    else {
      t.equal(answer.statusCode, 404, url);
      t.match(answer.json(), url.includes('%00') ? { success: false } : NOT_FOUND, url);
    }
  }
});

t.test("Another user's task, an unknown one and one without a feed are 404", async (t) => {
  await postFeed(app, alice, taskId);
  for (const id of [taskId, 999_999, ...INVALID_IDS]) {
    for (const method of ['POST', 'DELETE'] as const) {
      const answer = await app.inject({ method, url: `/api/tasks/${id}/feed`, headers: bob.headers });
      t.equal(answer.statusCode, 404, `${method} ${id}`);
    }
  }
  const dora = await signUp(app);
  t.equal((await deleteFeedOf(app, dora)).statusCode, 404);
  t.equal((await app.inject({ method: 'POST', url: '/api/user/feed' })).statusCode, 401);
  const field = await app.inject({
    method: 'POST',
    url: '/api/user/feed',
    headers: dora.headers,
    payload: { days: 3 },
  });
  t.match([field.statusCode, field.json()], [400, { details: { days: [/\S/] } }]);
});

t.test('A key needs executions:read besides the scope of the task or of the profile', async (t) => {
  const post = (key: { headers: object }, url: string) =>
    app.inject({ method: 'POST', url, headers: { ...key.headers } });
  const urls = [
    ['tasks:write', `/api/tasks/${taskId}/feed`],
    ['profile:write', '/api/user/feed'],
  ] as const;
  for (const [scope, url] of urls) {
    for (const other of [scope, 'executions:read'] as const) {
      const refused = await post(await createKey(app, alice, { scopes: [other] }), url);
      t.equal(refused.statusCode, 403, other);
      t.same(refused.json().details, { scope: other === scope ? 'executions:read' : scope });
    }
    const made = await post(await createKey(app, alice, { scopes: [scope, 'executions:read'] }), url);
    t.equal(made.statusCode, 201, made.body);
  }
});

t.test('A key without executions:read gets no address by the Idempotency-Key of another caller', async (t) => {
  const url = `/api/tasks/${taskId}/feed`;
  const writer = await createKey(app, alice, { scopes: ['tasks:write'] });
  const post = (headers: object) =>
    app.inject({ method: 'POST', url, headers: { ...headers, 'idempotency-key': 'a-feed' } });
  const made = await post(alice.headers);
  t.equal(made.statusCode, 201, made.body);
  t.equal((await post(alice.headers)).body, made.body);
  t.match(await post(writer.headers), { statusCode: 403, headers: { 'x-error-code': 'MISSING_SCOPE' } });
  clock.advance(15 * 60_000);
  const stale = await post(alice.headers);
  t.match(stale, { statusCode: 403, headers: { 'x-error-code': 'CONFIRMATION_REQUIRED' } }, 'nor does an old session');
  await confirmSession(app, alice);
  t.equal((await post(alice.headers)).body, made.body);
});

t.test('A feed needs a session of the last 15 minutes, and ending it does not', async (t) => {
  const url = `/api/tasks/${taskId}/feed`;
  await postFeed(app, alice, taskId);
  clock.advance(15 * 60_000);
  for (const path of [url, '/api/user/feed']) {
    const refused = await app.inject({ method: 'POST', url: path, headers: alice.headers });
    t.match(refused, { statusCode: 403, headers: { 'x-error-code': 'CONFIRMATION_REQUIRED' } });
    t.same(refused.json(), { success: false, error: 'Confirm with your password first.' });
  }
  t.equal((await deleteFeedOf(app, alice, taskId)).statusCode, 200);
});

t.test('A feed ends with the key that made it: when the key is deleted, and when it expires', async (t) => {
  const scopes = ['tasks:write', 'profile:write', 'executions:read'] as const;
  const expiresAt = new Date(ctx.now().getTime() + 60 * 60_000).toISOString();
  for (const task of [taskId, undefined]) {
    const key = await createKey(app, alice, { scopes });
    const path = await postFeed(app, key, task);
    t.equal((await get(path)).statusCode, 200);
    await app.inject({ method: 'DELETE', url: `/api/keys/${key.id}`, headers: alice.headers });
    t.match((await get(path)).json(), { error: 'Feed not found' });
    t.equal((await deleteFeedOf(app, alice, task)).statusCode, 404, 'nothing of it is left');
    const short = await createKey(app, alice, { scopes, expiresAt });
    const shortPath = await postFeed(app, short, task);
    const etag = String((await get(shortPath)).headers.etag);
    const caller = await findCallerByToken(ctx, alice.token);
    t.ok(await readFeedDate(caller as Caller, task));
    clock.set(new Date(expiresAt));
    t.equal((await get(shortPath, { 'if-none-match': etag })).statusCode, 404);
    t.equal(await readFeedDate(caller as Caller, task), null, 'nor do pages show it');
    clock.set(new Date(Date.parse(expiresAt) - 60 * 60_000));
    const taken = await createKey(app, alice, { scopes });
    await postFeed(app, taken, task);
    const own = await postFeed(app, alice, task);
    await app.inject({ method: 'DELETE', url: `/api/keys/${taken.id}`, headers: alice.headers });
    t.equal((await get(own)).statusCode, 200, 'an address that a session has made since stays');
  }
});

t.test('A key that is deleted before it has made a feed makes none', async (t) => {
  await deleteFeedOf(app, alice, taskId);
  const key = await createKey(app, alice, { scopes: MAKES_FEEDS });
  let making: ReturnType<typeof make> | undefined;
  await inTransaction(ctx, async (tx) => {
    await deleteUserApiKeys(tx, alice.id, key.id);
    making = make(key.headers);
    await untilBlocked(ctx.db);
  });
  t.equal((await making)?.statusCode, 401);
  t.equal(await ctx.db.$count(feeds, eq(feeds.taskId, taskId)), 0);
});

t.test('A key that is deleted while it makes a feed leaves none', async (t) => {
  await postFeed(app, alice, taskId);
  const key = await createKey(app, alice, { scopes: MAKES_FEEDS });
  let requests: ReturnType<typeof make>[] = [];
  await inTransaction(ctx, async (tx) => {
    await tx.db.select().from(feeds).where(eq(feeds.taskId, taskId)).for('update');
    const making = make(key.headers);
    await untilBlocked(ctx.db);
    const deleting = app.inject({ method: 'DELETE', url: `/api/keys/${key.id}`, headers: alice.headers });
    requests = [making, deleting];
    await untilBlocked(ctx.db, requests.length);
  });
  const [made, deleted] = await Promise.all(requests);
  t.equal(made?.statusCode, 201);
  t.equal(deleted?.statusCode, 200);
  t.equal((await get(new URL(made?.json().url).pathname)).statusCode, 404);
  t.equal(await ctx.db.$count(feeds, eq(feeds.taskId, taskId)), 0);
});

t.test('A feed is deleted with its task or its account', async (t) => {
  const dora = await signUp(app);
  const doomed = await insertTask(ctx, dora.id);
  const [ofTask, ofAccount] = [await postFeed(app, dora, doomed), await postFeed(app, dora)];
  await app.inject({ method: 'DELETE', url: `/api/tasks/${doomed}`, headers: dora.headers });
  t.equal((await get(ofTask)).statusCode, 404);
  t.equal((await get(ofAccount)).statusCode, 200);
  const payload = { currentPassword: PASSWORD };
  const ended = await app.inject({ method: 'DELETE', url: '/api/user', headers: dora.headers, payload });
  t.equal(ended.statusCode, 200, ended.body);
  t.equal((await get(ofAccount)).statusCode, 404);
  t.equal(await ctx.db.$count(feeds, eq(feeds.userId, dora.id)), 0);
});

t.test('Reads of a feed that has changed are limited, those of an unchanged one are not', async (t) => {
  // A tenth of 60 reads of a feed and 600 requests of an address in a minute.
  const limited = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '0.1', TRUST_PROXY: '127.0.0.1' } });
  const carol = await signUp(limited.app);
  const url = await postFeed(limited.app, carol);
  let address = 0;
  const read = (headers: object = {}) => {
    address += 1;
    return limited.app.inject({ url, headers: { 'x-forwarded-for': `198.51.100.${address}`, ...headers } });
  };
  const { etag } = (await read()).headers;
  for (let at = 0; at < 7; at++) t.equal((await read({ 'if-none-match': String(etag) })).statusCode, 304);
  for (let at = 1; at < 6; at++) t.equal((await read()).statusCode, 200);
  const refused = await read();
  t.match([refused.statusCode, refused.json()], [429, { details: { limit: 6 } }]);
  t.ok(Number(refused.headers['retry-after']) > 0);
  const guesses = Array.from({ length: 61 }, () => limited.app.inject(`/feeds/${'B'.repeat(43)}.atom`));
  const statuses = (await Promise.all(guesses)).map(({ statusCode }) => statusCode);
  t.same(statuses.toSorted(), [...Array(60).fill(404), 429], 'guesses of one address');
});

t.test('The secret is in no log line, label, audit entry, table or export', async (t) => {
  const url = await postFeed(app, alice);
  const secret = url.slice('/feeds/'.length, -'.atom'.length);
  const requests = [
    get(url),
    get(`${url}?x=${secret}`, { 'if-none-match': '*' }),
    get(url.replace('.atom', '.rss')),
    get(`${url}/more`),
    app.inject({ method: 'POST', url, payload: { secret } }),
    app.inject({ method: 'HEAD', url }),
  ];
  const answers = await Promise.all(requests);
  t.same(
    answers.map(({ statusCode }) => statusCode),
    [200, 304, 404, 404, 404, 200],
  );
  await ctx.db.execute('alter table feeds rename column secret_hash to hidden');
  t.equal((await get(url)).statusCode, 500);
  await ctx.db.execute('alter table feeds rename column hidden to secret_hash');
  t.ok(logged.some(({ msg }) => msg === 'request failed'));
  t.match(labels.at(-1), { route: '/feeds/:secret.atom', statusCode: 500 });
  const audited = await ctx.db.select().from(auditLog).orderBy(asc(auditLog.id));
  t.ok(audited.some(({ kind }) => kind === 'feed.created') && audited.some(({ kind }) => kind === 'feed.deleted'));
  const caller = (await findCallerByToken(ctx, alice.token)) as Caller;
  const exported = await Promise.all([
    startExport(ctx, caller, PASSWORD),
    ...EXPORT_PARTS.map((part) => readExport(ctx, caller, { part })),
  ]);
  const kept = { logged, labels, audited, stored: await ctx.db.select().from(feeds), exported };
  for (const [where, what] of Object.entries(kept)) t.notOk(JSON.stringify(what).includes(secret), where);
  t.notOk(
    answers.some(({ body, headers }) => (body + JSON.stringify(headers)).includes(secret)),
    'answers',
  );
});
