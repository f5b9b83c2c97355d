import * as schema from '@carillon/db';
import { queryRows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { getTableColumns, is, sql } from 'drizzle-orm';
import { getTableConfig, PgTable, PgText } from 'drizzle-orm/pg-core';
import t from 'tap';

t.test('The check constraints allow exactly the words of the schema', async (t) => {
  const { db } = await testDatabase(t);
  const checks = await queryRows<{ table: string; name: string; definition: string }>(
    db,
    sql`select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where contype = 'c'`,
  );
  let compared = 0;
  for (const table of Object.values(schema).filter((value) => is(value, PgTable))) {
    const { name } = getTableConfig(table);
    for (const column of Object.values(getTableColumns(table))) {
      if (!is(column, PgText) || column.enumValues === undefined) continue;
      const check = checks.find(
        (one) => one.table === name && one.definition.startsWith(`CHECK ((${column.name} = ANY`),
      );
      const words = [...(check?.definition ?? '').matchAll(/'([^']*)'::text/g)].map(([, word]) => word);
      t.same(words, column.enumValues, `${name}.${column.name}`);
      compared += 1;
    }
  }
  t.ok(compared >= 8);
});
