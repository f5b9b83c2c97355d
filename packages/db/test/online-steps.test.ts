import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import t from 'tap';
import { MIGRATIONS, readJournal } from '../src/journal.ts';
import { migrateDatabase } from '../src/migrate.ts';
import { runOnlineSteps } from '../src/partitions/online-steps.ts';
import { emptyDatabase } from './empty-database.ts';

const before = readJournal().entries.findIndex(({ tag }) => tag === '0027_web_tools_and_task_proposals');
const openFilled = (name: string) => emptyDatabase(t, name, { upTo: before, data: true });

/** What processes of the version before do with an execution. */
const insertRun = async (sql: postgres.Sql) => {
  const [run] = await sql<{ id: number }[]>`
    insert into executions (task_id, user_id, status, trigger, run_at, queued_at, created_at)
    select id, user_id, 'pending', 'manual', now(), now(), now() from tasks t
    where not exists (select from executions e where e.task_id = t.id and e.status = 'running') order by id limit 1 returning id`;
  return run?.id ?? 0;
};
const startRun = (sql: postgres.Sql, id: number) => sql`
  update executions set status = 'running', started_at = now(), claim_token = gen_random_uuid(), lease_until = now() where id = ${id}`;
const endRun = (sql: postgres.Sql, id: number) => sql`
  update executions set status = 'completed', completed_at = now(), claim_token = null, lease_until = null, result = 'Done.'
  where id = ${id}`;

t.test('The steps can be repeated, and a process of the version before works after any of them', async (t) => {
  const { sql } = await openFilled('online_repeated');
  await runOnlineSteps(sql);
  const id = await insertRun(sql);
  await runOnlineSteps(sql);
  await startRun(sql, id);
  await endRun(sql, id);
  const [row] = await sql`select status, archived from executions where id = ${id}`;
  t.match(row, { status: 'completed', archived: null });
});

/** The tables that the migration attaches without reading them, as the server reports. */
async function listUnread(url: string) {
  const notices: string[] = [];
  const connection = { client_min_messages: 'debug1' };
  const client = postgres(url, { max: 1, connection, onnotice: ({ message = '' }) => void notices.push(message) });
  await migrate(drizzle(client), { migrationsFolder: MIGRATIONS });
  await client.end();
  const names = notices.map((text) => /^partition constraint for table "(.+_before)" is implied/.exec(text)?.[1]);
  return names.filter((name) => name !== undefined).sort();
}

t.test('The migration reads no row of the prepared tables', async (t) => {
  const { sql, url } = await openFilled('online_read');
  await runOnlineSteps(sql);
  const tables = ['audit_log', 'events', 'executions', 'occurrences', 'usage_records'];
  t.same(
    await listUnread(url),
    tables.map((name) => `${name}_before`),
  );
  const { url: unprepared } = await openFilled('online_unprepared');
  t.same(await listUnread(unprepared), []);
});

t.test('A process of the version before works after the migration, and loses nothing', async (t) => {
  const { sql, url } = await openFilled('online_old');
  const [waiting, running] = [await insertRun(sql), await insertRun(sql)];
  await startRun(sql, running);
  await migrateDatabase(url);
  const made = await insertRun(sql);
  await endRun(sql, running);
  for (const id of [waiting, made]) {
    await startRun(sql, id);
    await endRun(sql, id);
  }
  const rows = await sql`
    select status, result, archived from executions where id = any(${[waiting, running, made]}) order by id`;
  t.same([...rows], Array(3).fill({ status: 'completed', result: 'Done.', archived: false }));
  await sql`delete from tasks`;
  t.same([...(await sql`select from executions`)], []);
});

t.test('Occurrences that are planned for later months stay where they can be found', async (t) => {
  const { sql, url } = await openFilled('online_planned');
  const [task] = await sql<{ id: number }[]>`select id from tasks limit 1`;
  const at = new Date(Date.now() + 400 * 86_400_000);
  const insert = () =>
    sql`insert into occurrences values (${task?.id ?? 0}, ${at}, 'skipped_by_user', now()) on conflict do nothing`;
  await insert();
  await migrateDatabase(url);
  t.equal((await insert()).count, 0);
  t.equal((await sql`select from occurrences where planned_for = ${at}`).length, 1);
});
