import { EVENT_KINDS } from '@carillon/contract/webhooks/events';
import { events, queryRows } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../src/context.ts';
import { recordEvents } from '../../src/platform/events/outbox.ts';
import { listEvents } from '../../src/platform/events/read.ts';
import { inTransaction } from '../../src/transaction.ts';
import { testContext } from '../support/context.ts';
import { signUp, signUpAda, signUpAlice, signUpBob } from '../support/people.ts';
import { postTask } from '../support/tasks.ts';
import { readLog, recordManyEvents } from '../support/webhooks.ts';

const { app, ctx } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
const ada = await signUpAda(app);
const carol = await signUp(app);

interface Page {
  events: { id: string; event: string; timestamp: string; data: { n: number; task: { id: number } } }[];
  pagination: { limit: number; hasMore: boolean; nextAfter: string | null };
}

const get = (query: string, { headers } = alice) => app.inject({ method: 'GET', url: `/api/events${query}`, headers });
const list = async (query = '', person = alice): Promise<Page> => (await get(query, person)).json();

t.afterEach(async () => {
  await ctx.db.execute(sql`truncate events, event_positions`);
});

t.test('A user without events has an empty list, from which a client can continue', async (t) => {
  t.same(await list(), { success: true, events: [], pagination: { limit: 50, hasMore: false, nextAfter: null } });
  t.equal((await list('?after=7')).pagination.nextAfter, '7');
});

t.test('Events are listed oldest first, and nextAfter leads through all of them and to new ones', async (t) => {
  await recordManyEvents(ctx, alice.id, 5);
  const seen: number[] = [];
  let page = await list('?limit=2');
  for (;;) {
    seen.push(...page.events.map(({ data }) => data.n));
    if (!page.pagination.hasMore) break;
    page = await list(`?limit=2&after=${page.pagination.nextAfter}`);
  }
  t.same(seen, [0, 1, 2, 3, 4]);
  const { nextAfter } = page.pagination;
  t.same((await list(`?after=${nextAfter}`)).events, []);
  await recordManyEvents(ctx, alice.id, 1);
  t.equal((await list(`?after=${nextAfter}`)).events.length, 1);
});

t.test('An event of a task has the kind, the time and the data of its webhook payload', async (t) => {
  const id = await postTask(app, alice);
  const { events } = await list();
  t.match(events, [{ id: /^\d+$/, event: 'task.created', timestamp: ctx.now().toISOString(), data: { task: { id } } }]);
});

t.test('Kinds and task narrow the list', async (t) => {
  const [one, two] = [await postTask(app, alice), await postTask(app, alice)];
  await app.inject({ method: 'DELETE', url: `/api/tasks/${two}`, headers: alice.headers });
  const kindsOf = async (query: string) => (await list(query)).events.map(({ event }) => event);
  t.same(await kindsOf(`?taskId=${one}`), ['task.created']);
  t.same(await kindsOf(`?taskId=${two}`), ['task.created', 'task.deleted'], 'of a deleted task too');
  t.same(await kindsOf('?kinds=task.deleted,task.updated'), ['task.deleted']);
  t.same(await kindsOf(`?kinds=task.deleted&taskId=${one}`), []);
  t.equal((await list(`?kinds=${EVENT_KINDS.join(',')}`)).events.length, 3);
});

t.test('Events that share a row are pages of their own, with and without a filter', async (t) => {
  const data = { n: 0 };
  const pair = ['task.started', 'execution.started'] as const;
  for (let run = 0; run < 3; run++) {
    const events = pair.map((kind) => ({ kind, userId: alice.id, data }));
    await inTransaction(ctx, async (tx) => recordEvents(tx, events));
  }
  t.equal(await ctx.db.$count(events), 3);
  const { events: all } = await list();
  t.same(
    all.map(({ event }) => event),
    [...pair, ...pair, ...pair],
  );
  for (const kinds of ['', ...pair, pair.join(',')]) {
    const wanted = all.filter(({ event }) => kinds.split(',').includes(event) || kinds === '');
    for (const after of ['0', ...all.map(({ id }) => id)]) {
      const seen: unknown[] = [];
      for (let page: Page | null = null; page?.pagination.hasMore !== false; ) {
        const from: string = page?.pagination.nextAfter ?? after;
        page = await list(`?limit=1&after=${from}${kinds && `&kinds=${kinds}`}`);
        t.equal(page.events.length, wanted.some(({ id }) => Number(id) > Number(from)) ? 1 : 0);
        seen.push(...page.events);
      }
      t.same(
        seen,
        wanted.filter(({ id }) => Number(id) > Number(after)),
        `${kinds} after ${after}`,
      );
    }
  }
});

t.test('A page with a filter reads a bounded part of the log, and leads to the rest', async (t) => {
  const [userId, rows] = [carol.id, 60_000];
  await ctx.db.execute(sql`
    insert into events (user_id, id, kinds, task_id, data, created_at)
    select ${userId}::int, 2 * n, case n when ${rows}::int then '{test}' else '{task.started,execution.started}' end::text[],
      1, '{}', now()
    from generate_series(1, ${rows}::int) n`);
  await ctx.db.execute(sql`analyze events`);
  for (const query of ['kinds=test', 'taskId=2', 'taskId=1&kinds=test']) {
    let [page, pages]: [Page | null, number] = [null, 0];
    const seen: Page['events'] = [];
    for (; page?.pagination.hasMore !== false; pages++) {
      page = await list(`?${query}${page === null ? '' : `&after=${page.pagination.nextAfter}`}`, carol);
      seen.push(...page.events);
      if (pages === 0) t.match(page, { events: [], pagination: { hasMore: true, nextAfter: '20000' } });
    }
    t.equal(pages, 6, query);
    t.equal(seen.length, query.includes('test') ? 1 : 0);
  }
  // Of the connection, since the statistics took them last.
  const countRowsRead = async ({ db }: Context) => {
    const [row] = await queryRows<{ read: number }>(
      db,
      sql`select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'events_before'`,
    );
    return row?.read ?? 0;
  };
  const rowsRead = await inTransaction(ctx, async (tx) => {
    const before = await countRowsRead(tx);
    await listEvents(tx, carol, { after: '5', limit: 50, kinds: 'test' });
    return (await countRowsRead(tx)) - before;
  });
  t.ok(rowsRead > 10_000 && rowsRead < 20_010, `${rowsRead} of ${rows} rows`);
});

t.test('Nothing of another user is listed for any id or task', async (t) => {
  const id = await postTask(app, alice);
  for (const person of [bob, ada]) {
    for (const query of ['', '?after=0', `?taskId=${id}`]) t.same((await list(query, person)).events, []);
  }
  t.equal((await get('', { headers: {} } as never)).statusCode, 401);
});

t.test('Invalid parameters are refused by name', async (t) => {
  for (const [query, field] of [
    ['after=abc', 'after'],
    ['after=-1', 'after'],
    ['after=1e3', 'after'],
    ['after=9999999999999999999', 'after'],
    ['after=', 'after'],
    ['kinds=', 'kinds'],
    ['kinds=task.gone', 'kinds'],
    ['kinds=task.created,', 'kinds'],
    ['kinds=task.created&kinds=test', 'kinds'],
    ['taskId=0', 'taskId'],
    ['limit=0', 'limit'],
  ] as const) {
    const answer = await get(`?${query}`);
    t.equal(answer.statusCode, 400, query);
    t.same(Object.keys(answer.json().details), [field], query);
  }
});

t.test('The test of a webhook is logged, and sent to no other webhook', async (t) => {
  const payload = { url: 'http://127.0.0.1:1/', events: ['test'] };
  const post = () => app.inject({ method: 'POST', url: '/api/webhooks', headers: alice.headers, payload });
  const [tested, other] = [(await post()).json().webhook, (await post()).json().webhook];
  await app.inject({ method: 'POST', url: `/api/webhooks/${tested.id}/test`, headers: alice.headers });
  t.match((await list()).events, [{ event: 'test', data: { message: /test/ } }]);
  t.equal((await readLog(app, alice, tested.id)).length, 1);
  t.equal((await readLog(app, alice, other.id)).length, 0);
});

t.test('HEAD is answered like GET, without a body', async (t) => {
  const answer = await app.inject({ method: 'HEAD', url: '/api/events', headers: alice.headers });
  t.equal(answer.statusCode, 200);
  t.equal(answer.body, '');
});

t.test('The events of a deleted account are deleted', async (t) => {
  await recordManyEvents(ctx, bob.id, 5001);
  await inTransaction(ctx, async (tx) => recordEvents(tx, [{ kind: 'test', userId: alice.id, data: {} }]));
  const url = `/api/admin/users/${bob.id}`;
  t.equal((await app.inject({ method: 'DELETE', url, headers: ada.headers })).statusCode, 200);
  t.equal(await ctx.db.$count(events, eq(events.userId, bob.id)), 0);
  t.equal((await list()).events.length, 1);
});
