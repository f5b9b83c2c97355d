import { sql } from 'drizzle-orm';
import t from 'tap';
import { queryRows, recordset } from '../src/index.ts';
import { testDatabase } from '../src/test-database.ts';

const { db } = await testDatabase(t);

t.test('Result columns arrive in camelCase, at every call and in a transaction', async (t) => {
  const query = sql`select 1 as user_id, 2 as "taskId", 'x' as name, '{"a_b": 1}'::jsonb as some_json`;
  const expected = [{ userId: 1, taskId: 2, name: 'x', someJson: { a_b: 1 } }];
  t.same(await queryRows(db, query), expected);
  t.same(await queryRows(db, query), expected, 'prepared already');
  t.same(await db.transaction((tx) => queryRows(tx, query)), expected);
});

t.test('A recordset is a table of the fields that its columns name', async (t) => {
  const records = [
    { id: 1, plannedFor: new Date('2026-11-20T10:00:00.000Z'), name: null, unused: 'x' },
    { id: 2, plannedFor: new Date('2026-11-21T10:00:00.000Z'), name: 'two', unused: 'y' },
  ];
  const table = recordset('r', records, { id: 'int', plannedFor: 'timestamptz', name: 'text' });
  t.same(await queryRows(db, sql`select r.*, extract(day from r.planned_for)::int as day from ${table} order by id`), [
    { id: 1, plannedFor: '2026-11-20 10:00:00+00', name: null, day: 20 },
    { id: 2, plannedFor: '2026-11-21 10:00:00+00', name: 'two', day: 21 },
  ]);
});

t.test('A recordset keeps every text, and the number of its rows', async (t) => {
  const texts = ['', 'null', '{a,b}', '"quoted"', 'back\\slash \\"', 'a\nb\tc', ' padded ', 'ä € 🎉', null, undefined];
  const records = texts.map((text, n) => ({ n, text, none: null, isEven: n % 2 === 0, cost: n / 4 }));
  const columns = { n: 'int', text: 'text', none: 'uuid', isEven: 'boolean', cost: 'float8' };
  const found = await queryRows<(typeof records)[0]>(
    db,
    sql`select * from ${recordset('r', records, columns)} order by n`,
  );
  t.same(
    found,
    records.map((record) => ({ ...record, text: record.text ?? null })),
  );
  t.same(await queryRows(db, sql`select * from ${recordset('r', [], columns)}`), []);
});
