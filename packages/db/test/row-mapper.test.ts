import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { connect, type Db, preparedQuery, settings, tasks, users } from '../src/index.ts';
import { testDatabase } from '../src/test-database.ts';

const { url } = await testDatabase(t);
const { db, close } = connect(url, { max: 1 });
t.teardown(close);

await db.insert(users).values({ identityUserId: 'local:alice', email: 'alice@example.com', name: 'Alice' });

/** Queries with columns, expressions, nested objects and joins that find a row or none. */
const QUERIES: Record<string, (db: Db) => { prepare(name: string): { execute(): Promise<unknown[]> } }> = {
  columns: (db) => db.select({ id: users.id, createdAt: users.createdAt, trialEndsAt: users.trialEndsAt }).from(users),
  expressions: (db) =>
    db
      .select({ one: sql<number>`1`, at: sql<Date>`now() - now() + ${users.createdAt}`.mapWith(users.createdAt) })
      .from(users),
  'nested objects': (db) => db.select({ row: { id: users.id, plan: users.plan }, total: sql<number>`7` }).from(users),
  'a join without a row': (db) => db.select().from(users).leftJoin(tasks, eq(tasks.userId, users.id)),
  'a join with a row': (db) => db.select().from(users).leftJoin(settings, sql`true`),
  'a nullable first column': (db) => db.select({ user: { trialEndsAt: users.trialEndsAt, id: users.id } }).from(users),
  'columns of two tables in one object': (db) =>
    db
      .select({ both: { task: tasks.id, user: users.id } })
      .from(users)
      .leftJoin(tasks, eq(tasks.userId, users.id)),
};

for (const [name, build] of Object.entries(QUERIES)) {
  t.test(`Rows of a prepared query equal those of Drizzle: ${name}`, async (t) => {
    const expected = await build(db).prepare('drizzle').execute();
    const compiled = preparedQuery((db) => build(db).prepare('compiled'))(db);
    t.ok('customResultMapper' in compiled && compiled.customResultMapper, 'it is compiled');
    const rows = await compiled.execute();
    t.equal(rows.length, 1);
    t.strictSame(rows, expected);
  });
}
