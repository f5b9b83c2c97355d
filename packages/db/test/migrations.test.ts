import { readdir } from 'node:fs/promises';
import type postgres from 'postgres';
import t from 'tap';
import { MIGRATIONS, readJournal } from '../src/journal.ts';
import { migrateDatabase } from '../src/migrate.ts';
import { emptyDatabase } from './empty-database.ts';

const tags = readJournal().entries.map(({ tag }) => tag);

t.equal(
  tags.length,
  (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).length,
  'every migration is in the journal',
);
for (const [at, tag] of tags.entries()) {
  t.test(`A database with data of the schema ${tag} is migrated to the newest schema`, async (t) => {
    const { sql, url } = await emptyDatabase(t, `migrated_${at}`, { upTo: at, data: true });
    const before = await countRows(sql);
    await migrateDatabase(url);
    t.match(await countRows(sql), before, 'no row is lost');
    t.strictSame(await wrongCounters(sql), [], 'the counters match the rows');
    t.strictSame([...(await listSilenced(sql))], [], 'addresses that got mail still get it');
    await migrateDatabase(url);
    t.match(await countRows(sql), before, 'a second migration changes nothing');
  });
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
