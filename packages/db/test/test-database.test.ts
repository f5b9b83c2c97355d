import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';

t.test('A test database has the schema and nothing of other test databases', async (t) => {
  const [one, two] = await Promise.all([testDatabase(t), testDatabase(t)]);
  await one.db.execute(sql`create table only_here ()`);
  const [there] = await two.db.execute(sql`select to_regclass('only_here') as found, to_regclass('users') as users`);
  t.strictSame(there, { found: null, users: 'users' });
});
