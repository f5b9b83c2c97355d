import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { connect, type DatabaseUnavailable, type Db, preparedQuery, queryRows } from '../src/index.ts';
import { testDatabase } from '../src/test-database.ts';
import { refused } from './refused.ts';
import { openWire } from './wire.ts';

const DEADLINE_MS = 800;
/** Tolerance for a busy machine. */
const SLACK_MS = 600;

const { url, db: direct } = await testDatabase(t);
await direct.execute(sql`create table notes (id int primary key generated always as identity, text text not null)`);
t.beforeEach(() => direct.execute(sql`truncate notes`));

async function overWire(t: Test, max = 4) {
  const wire = await openWire(t, url);
  const { db, close } = connect(wire.url, { max, deadlineMs: DEADLINE_MS });
  t.teardown(close);
  return { wire, db };
}

const one = (db: Db) => queryRows<{ one: number }>(db, sql`select 1 as one`);
const write = (db: Db, text: string) => db.execute(sql`insert into notes (text) values (${text})`);
const notes = async () =>
  (await queryRows<{ text: string }>(direct, sql`select text from notes order by id`)).map(({ text }) => text);

t.test('A slow statement is ended by the server, and its connection stays in use', async (t) => {
  const { wire, db } = await overWire(t, 1);
  await one(db);
  const { error, ms } = await refused(Promise.resolve(db.execute(sql`select pg_sleep(5)`)));
  t.equal((error as { cause?: { code?: string } }).cause?.code, '57014');
  t.ok(ms < DEADLINE_MS);
  t.same(await one(db), [{ one: 1 }]);
  t.equal(wire.count(), 1);
});

t.test('A statement without parameters is planned once for a connection, too', async (t) => {
  const { db } = await overWire(t, 1);
  for (let n = 0; n < 3; n++) await one(db);
  const uses = await queryRows<{ ofOnePlan: number }>(
    db,
    sql`select generic_plans::int as of_one_plan from pg_prepared_statements where statement = 'select 1 as one'`,
  );
  t.same(uses, [{ ofOnePlan: 3 }]);
});

t.test(
  'A statement that gets no connection in time is refused, and the transaction that has it continues',
  async (t) => {
    const { db } = await overWire(t, 1);
    const [entered, enter] = signal();
    let isRefused = false;
    const held = db.transaction(async (tx) => {
      await write(tx, 'held');
      enter();
      while (!isRefused) await one(tx);
      await write(tx, 'to the end');
    });
    await entered;
    const { error, ms } = await refused(one(db));
    isRefused = true;
    t.equal((error as { cause?: DatabaseUnavailable }).cause?.code, 'DATABASE_BUSY');
    t.ok(ms < DEADLINE_MS + SLACK_MS);
    await held;
    t.same(await notes(), ['held', 'to the end']);
  },
);

t.test('A transaction that sends nothing is ended, and others get its locks before they give up waiting', async (t) => {
  const { db } = await overWire(t);
  const lock = (db: Db) => db.execute(sql`lock table notes`);
  const [entered, enter] = signal();
  const [locked, goOn] = signal();
  const idle = db.transaction(async (tx) => {
    await lock(tx);
    enter();
    await locked;
    await write(tx, 'too late');
  });
  await entered;
  await db.transaction(lock);
  goOn();
  await t.rejects(idle);
  t.same(await notes(), []);
});

t.test('A statement is refused at once when thousands are waiting', async (t) => {
  const { db, close } = connect(url, { max: 1, deadlineMs: 20_000 });
  t.teardown(close);
  const [entered, enter] = signal();
  const [going, go] = signal();
  const held = db.transaction(async (tx) => {
    enter();
    await going;
    await one(tx);
  });
  await entered;
  const crowd = Array.from({ length: 5000 }, () => refused(one(db)));
  t.match((await refused(one(db))).error, { cause: { code: 'DATABASE_BUSY' } });
  go();
  await held;
  t.equal((await Promise.all(crowd)).filter(({ error }) => error).length, 0, 'the earlier ones are served');
});

t.test('A closing pool lets running work end and refuses new work', async (t) => {
  const { db, close } = connect(url, { max: 2 });
  const [entered, enter] = signal();
  const running = db.transaction(async (tx) => {
    await write(tx, 'a');
    enter();
    await wait(100);
    await write(tx, 'b');
  });
  await entered;
  const closed = close();
  t.match((await refused(one(db))).error, { cause: { code: 'DATABASE_CLOSED' } });
  await running;
  await closed;
  t.same(await notes(), ['a', 'b']);
});

const sleepQuery = preparedQuery(
  (db) =>
    db
      .select({ slept: sql`pg_sleep(${sql.placeholder('seconds')}::float8)::text` })
      .from(sql`(select) one`)
      .prepare('sleep'),
  { connection: 'shared' },
);
const pid = sql<number>`pg_backend_pid()`.as('pid');
const pidQuery = preparedQuery((db) => db.select({ pid }).from(sql`(select) one`).prepare('pid'), {
  connection: 'shared',
});

/** Opens `count` connections, since a transaction has one for itself. */
async function openAll(db: Db, count: number) {
  const [entered, enter] = signal();
  let open = 0;
  const hold = () =>
    db.transaction(async () => {
      open += 1;
      if (open === count) enter();
      await entered;
    });
  await Promise.all(Array.from({ length: count }, hold));
}

t.test('Simultaneous shared statements use one connection and leave the others free', async (t) => {
  const { wire, db } = await overWire(t, 8);
  await openAll(db, 8);
  t.equal(wire.count(), 8);
  const servers = async (ask: () => PromiseLike<{ pid: number }[]>) =>
    new Set((await Promise.all(Array.from({ length: 8 }, ask))).map(([row]) => row?.pid)).size;
  t.equal(await servers(() => pidQuery(db).execute()), 1);
  const other = db.select({ pid, no: sql`1` }).from(sql`(select) one`).prepare('other');
  t.equal(await servers(() => other.execute()), 8, 'other statements have a connection each');
});

t.test('A shared statement is not queued behind a slow one', async (t) => {
  const { db } = await overWire(t, 3);
  await openAll(db, 3);
  const slow = sleepQuery(db).execute({ seconds: 0.3 });
  await wait(50);
  const began = performance.now();
  await pidQuery(db).execute();
  t.ok(performance.now() - began < 200);
  await slow;
});

t.test('A transaction has its connection for itself, even the former shared one', async (t) => {
  const { db } = await overWire(t, 2);
  await openAll(db, 2);
  await pidQuery(db).execute();
  const pids = await db.transaction(async (tx) => {
    const [held] = await tx.select({ pid }).from(sql`(select) one`);
    const [other] = await pidQuery(db).execute();
    return [held?.pid, other?.pid];
  });
  t.not(pids[0], pids[1]);
});

function signal(): [Promise<void>, () => void] {
  const { promise, resolve } = Promise.withResolvers<void>();
  return [promise, resolve];
}
