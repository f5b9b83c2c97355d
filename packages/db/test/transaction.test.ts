import { sql } from 'drizzle-orm';
import t from 'tap';
import { type Db, queryRows } from '../src/index.ts';
import { testDatabase } from '../src/test-database.ts';

const { db } = await testDatabase(t);
await db.execute(sql`create table notes (id int primary key generated always as identity, text text unique)`);
t.beforeEach(() => db.execute(sql`truncate notes`));

const write = (db: Db, text: string) => db.execute(sql`insert into notes (text) values (${text})`);
const notes = async (from: Db = db) =>
  (await queryRows<{ text: string }>(from, sql`select text from notes order by id`)).map(({ text }) => text);

t.test('The writes of a transaction are visible once it has resolved, and not before', async (t) => {
  await db.transaction(async (tx) => {
    await write(tx, 'a');
    t.same([await notes(tx), await notes()], [['a'], []]);
  });
  t.same(await notes(), ['a']);
});

t.test('An error thrown in a transaction rolls it back and reaches the caller', async (t) => {
  const thrown = new Error('no');
  const work = db.transaction(async (tx) => {
    await write(tx, 'a');
    throw thrown;
  });
  t.equal(await work.catch((error) => error), thrown);
  t.same(await notes(), []);
});

t.test('A transaction with a failed statement rejects, even if its work ignored the error', async (t) => {
  const work = db.transaction(async (tx) => {
    await write(tx, 'a');
    await write(tx, 'a').then(null, () => {});
  });
  await t.rejects(work, { code: '23505' });
  t.same(await notes(), []);
});

t.test('A nested transaction is rolled back on its own', async (t) => {
  await db.transaction(async (tx) => {
    await write(tx, 'a');
    await tx.transaction((inner) => write(inner, 'b'));
    await tx.transaction((inner) => write(inner, 'a')).catch(() => {});
    await tx
      .transaction(async (inner) => {
        await write(inner, 'c');
        throw new Error('no');
      })
      .catch(() => {});
    await write(tx, 'd');
  });
  t.same(await notes(), ['a', 'b', 'd']);
});

t.test('A statement after the end of its transaction does not reach the database', async (t) => {
  let late: Db | undefined;
  await db.transaction(async (tx) => {
    late = tx;
  });
  await t.rejects(Promise.resolve(write(late as Db, 'late')), { cause: { code: 'DATABASE_CLOSED' } });
  const failing = db.transaction(async (tx) => {
    late = tx;
    throw new Error('no');
  });
  await t.rejects(failing);
  await t.rejects(Promise.resolve(write(late as Db, 'late')), { cause: { code: 'DATABASE_CLOSED' } });
  t.same(await notes(), []);
});

t.test(
  'A transaction rejects with its failure, even if its work throws the error of a statement behind it',
  async (t) => {
    const work = db.transaction(async (tx) => {
      await write(tx, 'a');
      write(tx, 'a').then(null, () => {});
      await write(tx, 'b');
    });
    await t.rejects(work, { code: '23505' });
  },
);

t.test('Statements may be sent together within one transaction, and by many transactions at once', async (t) => {
  const works = Array.from({ length: 60 }, (_, n) =>
    db.transaction((tx) => Promise.all([write(tx, `${n}a`), write(tx, `${n}b`), write(tx, `${n}c`)])),
  );
  const statements = Array.from({ length: 300 }, (_, n) => queryRows<{ n: number }>(db, sql`select ${n}::int as n`));
  t.same(
    (await Promise.all(statements)).map(([row]) => row?.n),
    statements.map((_, n) => n),
  );
  await Promise.all(works);
  t.equal((await notes()).length, 180);
});
