import { readdir, readFile } from 'node:fs/promises';
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

t.test(
  'A database from before the first migration is refused, and upgraded by the script of the documentation',
  async (t) => {
    const { sql, url } = await emptyDatabase(t, 'migrated_before', 'before');
    await t.rejects(migrateDatabase(url), { message: /run the script in docs\/operating\/upgrade\.md/ });
    const before = await countRows(sql);
    const page = await readFile(new URL('../../../docs/operating/upgrade.md', import.meta.url), 'utf8');
    await sql.unsafe(/```sql\n(begin;.*?)```/s.exec(page)?.[1] as string);
    const { executions_before: _, webhooks, loose_objects: loose, ...kept } = before;
    const after = await countRows(sql);
    t.match(after, { endpoints: webhooks, orphaned_objects: loose });
    t.match(after, Object.fromEntries(Object.entries(kept).filter(([name]) => !name.startsWith('executions_'))));
    await migrateDatabase(url);
    const fresh = await emptyDatabase(t, 'migrated_fresh', { upTo: tags.length - 1, data: false });
    t.same(await readCatalog(sql), await readCatalog(fresh.sql));
  },
);

/** Columns, constraints, indexes, triggers, functions, options and partitions, without the bounds of partitions. */
async function readCatalog(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ entry: string }[]>`
    select concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
      pg_get_expr(d.adbin, d.adrelid)) as entry
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated) from pg_constraint
    where connamespace = 'public'::regnamespace
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
    union all select concat_ws(' ', relname, relpersistence, reloptions) from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
    union all select concat_ws(' ', inhparent::regclass, inhrelid::regclass) from pg_inherits
    join pg_class c on c.oid = inhrelid where c.relkind in ('r', 'p')`;
  // The first partition of the history is named after the first id that it can get.
  return rows.map(({ entry }) => entry.replaceAll(/executions_from_\d+/g, 'executions_from')).sort();
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
