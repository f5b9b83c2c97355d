import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { connect, type Db, isDatabaseUnavailable, queryRows } from '../src/index.ts';
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

t.test(
  'Statements to a frozen database are refused at the deadline, and answered as soon as it continues',
  async (t) => {
    const { wire, db } = await overWire(t);
    await Promise.all([one(db), one(db), one(db)]);
    wire.freeze(true);
    for (const round of ['with the connections it had', 'with new ones']) {
      const all = await Promise.all(Array.from({ length: 20 }, () => refused(one(db))));
      t.ok(
        all.every(({ error }) => isDatabaseUnavailable(error)),
        round,
      );
      t.ok(Math.max(...all.map(({ ms }) => ms)) < DEADLINE_MS + SLACK_MS, round);
    }
    wire.thaw();
    const since = performance.now();
    while ((await refused(one(db))).error) await wait(10);
    t.ok(performance.now() - since < DEADLINE_MS + SLACK_MS);
    t.same(await one(db), [{ one: 1 }]);
  },
);

t.test('Dead connections are all replaced when the first is noticed', async (t) => {
  const { wire, db } = await overWire(t);
  await Promise.all(Array.from({ length: 4 }, () => db.transaction((tx) => one(tx))));
  wire.freeze(false);
  t.ok(isDatabaseUnavailable((await refused(one(db))).error), 'the first to notice');
  const after = await Promise.all(Array.from({ length: 20 }, () => refused(one(db))));
  t.same(
    after.map(({ error }) => error),
    after.map(() => undefined),
    'no other statement is refused',
  );
});

t.test('Statements are refused at once while the database is down, and answered once it is back', async (t) => {
  const { wire, db } = await overWire(t);
  await one(db);
  await wire.cut();
  for (let round = 0; round < 50; round++) {
    const { error, ms } = await refused(one(db));
    t.ok(isDatabaseUnavailable(error));
    t.ok(ms < SLACK_MS);
  }
  await wire.restore();
  t.same(await one(db), [{ one: 1 }]);
});

t.test('Statements that wait for an unreachable database share one attempt to connect', async (t) => {
  const { wire, db } = await overWire(t);
  wire.freeze(true);
  await refused(one(db));
  const before = wire.count();
  const crowd = await Promise.all(Array.from({ length: 200 }, () => refused(one(db))));
  t.ok(crowd.every(({ error, ms }) => isDatabaseUnavailable(error) && ms < DEADLINE_MS + SLACK_MS));
  t.ok(wire.count() - before <= 2, 'not one connection each');
});

t.test('A transaction that loses its connection writes nothing more', async (t) => {
  const { wire, db } = await overWire(t, 1);
  for (const pause of [0, 1, 20]) {
    const { error } = await refused(
      db.transaction(async (tx) => {
        await write(tx, 'before');
        await wire.cut();
        await wire.restore();
        // Meanwhile the pool opens another connection, for another statement.
        const other = one(db);
        await wait(pause);
        await other;
        const { error } = await refused(write(tx, 'after'));
        t.ok(isDatabaseUnavailable(error));
        await write(tx, 'still after');
      }),
    );
    t.ok(isDatabaseUnavailable(error));
  }
  t.same(await notes(), []);
});

t.test('A connection that breaks during a transaction ends only that transaction', async (t) => {
  const { wire, db } = await overWire(t, 3);
  const works = async (n: number) =>
    db.transaction(async (tx) => {
      await write(tx, `${n}`);
      await Promise.all([write(tx, `${n}`), one(tx), write(tx, `${n}`)]);
      await wait(n % 3);
      await write(tx, `${n}`);
    });
  for (let n = 0; n < 40; n++) {
    const running = [refused(works(n)), refused(works(n)), refused(works(n)), refused(one(db))];
    await wait(n % 8);
    await wire.cut();
    await wire.restore();
    for (const { error } of await Promise.all(running)) t.ok(error === undefined || isDatabaseUnavailable(error));
  }
  const written = await notes();
  t.equal(written.length % 4, 0, 'each wrote all of its rows or none');
  t.same(await one(db), [{ one: 1 }]);
});

t.test('A server that closes its connections is reported as unavailable at any moment of their use', async (t) => {
  const { wire, db } = await overWire(t, 8);
  // The driver writes a statement of this length at once, and a shorter one a moment later.
  const long = sql.raw(`select 1 /* ${'-'.repeat(1500)} */`);
  for (let round = 0; round < 100; round++) {
    await Promise.all(Array.from({ length: 8 }, () => refused(db.transaction((tx) => one(tx)))));
    const running: ReturnType<typeof refused>[] = [];
    wire.hangUp();
    for (let n = 0; n < 8; n++) {
      running.push(refused(db.execute(round % 2 ? long : sql`select 1`)));
      await (n % 2 ? new Promise(setImmediate) : new Promise((resolve) => process.nextTick(resolve)));
    }
    for (const { error } of await Promise.all(running)) if (error) t.ok(isDatabaseUnavailable(error));
  }
  t.same(await one(db), [{ one: 1 }]);
});
