import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import t from 'tap';
import { migrateDatabase } from '../src/migrate.ts';
import { testDatabase } from '../src/test-database.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));
const DATA = fileURLToPath(new URL('data', import.meta.url));
interface Journal {
  entries: { tag: string }[];
}
const journal: Journal = JSON.parse(await readFile(join(MIGRATIONS, 'meta/_journal.json'), 'utf8'));
const tags = journal.entries.map(({ tag }) => tag);
const { url: anyDatabase } = await testDatabase(t);
const folder = await mkdtemp(join(tmpdir(), 'carillon-migrations-'));
t.teardown(() => rm(folder, { recursive: true, force: true }));

t.equal(
  tags.length,
  (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).length,
  'every migration is in the journal',
);
for (const [at, tag] of tags.entries()) {
  t.test(`A database with data of the schema ${tag} is migrated to the newest schema`, async (t) => {
    const { sql, url } = await emptyDatabase(t, `migrated_${at}`);
    for (const step of tags.slice(0, at + 1)) {
      await migrateTo(url, step);
      await fill(sql, step);
    }
    const before = await countRows(sql);
    await migrateDatabase(url);
    t.match(await countRows(sql), before, 'no row is lost');
    t.strictSame(await wrongCounters(sql), [], 'the counters match the rows');
    t.strictSame([...(await listSilenced(sql))], [], 'addresses that got mail still get it');
    await migrateDatabase(url);
    t.match(await countRows(sql), before, 'a second migration changes nothing');
  });
}

/** Applies the migrations up to `tag`, as a release with that schema did. */
async function migrateTo(url: string, tag: string) {
  const release = join(folder, tag);
  await cp(MIGRATIONS, release, { recursive: true });
  const entries = journal.entries.slice(0, tags.indexOf(tag) + 1);
  await writeFile(join(release, 'meta/_journal.json'), JSON.stringify({ ...journal, entries }));
  const client = postgres(url, { max: 1, onnotice: () => {} });
  await migrate(drizzle(client), { migrationsFolder: release });
  await client.end();
}

async function fill(sql: postgres.Sql, tag: string) {
  const data = await readFile(join(DATA, `${tag.slice(0, 4)}.sql`), 'utf8').catch(() => '');
  await sql.unsafe(data);
}

async function emptyDatabase(t: { teardown(work: () => Promise<void>): unknown }, name: string) {
  const admin = postgres(anyDatabase, { max: 1, onnotice: () => {} });
  const own = `${name}_${process.pid}`;
  await admin.unsafe(`create database ${own}`);
  const address = new URL(anyDatabase);
  address.pathname = `/${own}`;
  const sql = postgres(address.href, { max: 1, onnotice: () => {} });
  t.teardown(async () => {
    await sql.end();
    await admin.unsafe(`drop database ${own} with (force)`);
    await admin.end();
  });
  return { sql, url: address.href };
}

async function countRows(sql: postgres.Sql): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' order by 1`;
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await sql<{ rows: number }[]>`select count(*)::int as rows from ${sql(name)}`;
    counts[name] = row?.rows ?? 0;
  }
  return counts;
}

/** Counters computed by the migrations that differ from the rows. */
async function wrongCounters(sql: postgres.Sql) {
  const ended = await sql`
    with due as (
      select user_id, left(coalesce(usage_day, (completed_at at time zone 'UTC')::date)::text, 7) as period,
        count(*) filter (where status = 'completed') as completed, count(*) filter (where status = 'failed') as failed
      from executions where status in ('completed', 'failed') group by 1, 2
    )
    select * from due full join usage_counters c using (user_id, period)
    where length(period) = 7 and (coalesce(due.completed, 0), coalesce(due.failed, 0)) <> (c.completed, c.failed)`;
  const stored = await sql`
    select * from (select user_id, sum(size) as bytes, count(*) as files from uploads group by 1) due
    full join upload_totals total using (user_id)
    where (coalesce(due.bytes, 0), coalesce(due.files, 0)) <> (total.bytes, total.files)`;
  const tasks = await sql`
    select id, task_count from users u where task_count <> (select count(*) from tasks t where t.user_id = u.id)`;
  return [...ended, ...stored, ...tasks];
}

const listSilenced = (sql: postgres.Sql) => sql`
  select a.* from (select id as user_id, unnest(notification_emails) as email from users
    union select user_id, notification_email from tasks where notification_email is not null) a
  left join notification_addresses n using (user_id, email) where n.confirmed_at is null`;
