import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { type ListenOptions, listen, queryRows } from '../src/index.ts';
import { testDatabase } from '../src/test-database.ts';
import { openWire } from './wire.ts';

const { url, db } = await testDatabase(t);
const notify = (payload: string) => db.execute(sql`select pg_notify('news', ${payload})`);

/** `next` returns the next payload, waiting for it if there is none. */
function open(t: Test, address = url, options: ListenOptions = {}) {
  const received: (string | null)[] = [];
  let wake = () => {};
  const listening = listen(
    address,
    'news',
    (payload) => {
      received.push(payload);
      wake();
    },
    { applicationName: 'listener', ...options },
  );
  t.teardown(listening.close);
  const next = async () => {
    while (received.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return received.shift();
  };
  return { ...listening, next };
}

t.test('A notification is received, in order, by every listener', async (t) => {
  const listeners = [open(t), open(t)];
  for (const { next } of listeners) t.equal(await next(), null, 'connected');
  await notify('one');
  await notify('two');
  for (const { next } of listeners) t.same([await next(), await next()], ['one', 'two']);
});

t.test('A listener whose connection is ended connects again and says that it may have missed some', async (t) => {
  const { next } = open(t);
  t.equal(await next(), null);
  await queryRows(
    db,
    sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener'
    and datname = current_database()`,
  );
  t.equal(await next(), null);
  await notify('again');
  t.equal(await next(), 'again');
});

t.test('A listener notices a server that no longer answers', async (t) => {
  const wire = await openWire(t, url);
  const { next } = open(t, wire.url, { deadlineMs: 400, checkMs: 100 });
  t.equal(await next(), null);
  wire.freeze(false);
  t.equal(await next(), null, 'on a new connection');
});

t.test('A listener that is closed has no connection, and can be closed while the database is away', async (t) => {
  const { next, close } = open(t, url, { applicationName: 'closed listener' });
  t.equal(await next(), null);
  await close();
  const left = sql`select pid from pg_stat_activity where application_name = 'closed listener'`;
  while ((await queryRows(db, left)).length > 0);
  await open(t, 'postgres://nobody@127.0.0.1:1/none').close();
});
