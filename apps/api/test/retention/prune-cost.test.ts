import { type Db, queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import t from 'tap';
import { createPruner } from '../../src/product/retention/prune.ts';
import { START, testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';
import { countEndedRuns, insertTask } from '../support/task-rows.ts';

/** Rows of each table for the second measurement, of which as many are old as before. */
const [FEW, MANY, OLD] = [1_000, 20_000, 300];
const PARTITIONS = ['executions_from_1', 'occurrences_before', 'audit_log_before'];
const env = { RETENTION_FILES_DAYS: '365' };

/** `n` counts from 0; the first `OLD` rows are two years old, the others new. */
const at = sql`timestamptz '${sql.raw(START.toISOString())}' - make_interval(days => case when n < ${sql.raw(String(OLD))} then 730 else 0 end)
  + make_interval(secs => n / 1000.0)`;
const numbered = (from: number, to: number) => sql`generate_series(${from}::int, ${to - 1}::int) n`;

/** Inserts rows of tables that are pruned. */
const FILLS: ((of: { user: number; task: number; from: number; to: number }) => SQL)[] = [
  ({ user, task, from, to }) => sql`
    insert into executions (task_id, user_id, status, trigger, run_at, completed_at, usage_day, created_at, archived)
    select ${task}, ${user}, 'completed', 'manual', ${at}, ${at}, (${at})::date, ${at}, true from ${numbered(from, to)}`,
  ({ task, from, to }) => sql`
    insert into occurrences select ${task}, ${at}, 'ran', ${at} from ${numbered(from, to)}`,
  ({ from, to }) => sql`
    insert into audit_log (at, kind, details) select ${at}, 'test', '{}' from ${numbered(from, to)}`,
  ({ user, from, to }) => sql`
    insert into notifications (user_id, kind, title, message, created_at)
    select ${user}, 'test', '', '', ${at} from ${numbered(from, to)}`,
  ({ user, from, to }) => sql`
    insert into uploads (id, user_id, name, type, size, storage, url, uploaded_at)
    select gen_random_uuid(), ${user}, 'a.txt', 'text/plain', 1, 'base64', n, ${at} from ${numbered(from, to)}`,
  ({ user, from, to }) => sql`
    insert into deliveries (id, webhook_id, event, payload, request_id, status, created_at, ended_at)
    select gen_random_uuid(), w.id, 'test', '{}', 'r', 'failed', ${at}, ${at}
    from endpoints w, ${numbered(from, to)} where w.user_id = ${user}`,
  ({ from, to }) => sql`
    insert into mails (id, recipient, subject, sent_at, created_at)
    select gen_random_uuid(), 'a@example.com', 'x', ${at}, ${at} from ${numbered(from, to)}`,
];

/** The rows that a worker's pruning round reads of each table, by scan or index, if the tables have `total` rows. */
async function rowsRead(total: number, { analysed }: { analysed: boolean }): Promise<Record<string, number>> {
  const { app, ctx, close } = await testContext(t, { env });
  const { id: user } = await signUpAlice(app);
  const task = await insertTask(ctx, user);
  await ctx.db.execute(sql`insert into upload_totals values (${user}, ${total}, ${total})`);
  await ctx.db.execute(sql`
    insert into endpoints (id, user_id, url, secret_encrypted, secret_lookup, events, created_at, updated_at)
    values (gen_random_uuid(), ${user}, 'https://hooks.example.com/', '', 'x', '{}', now(), now())`);
  for (const fill of FILLS) await ctx.db.execute(fill({ user, task, from: 0, to: total }));
  await countEndedRuns(ctx);
  if (analysed) await ctx.db.execute('analyze');
  const read = await ctx.db.transaction(async (tx) => {
    const before = await counted(tx);
    await createPruner({ ...ctx, db: tx })();
    const after = await counted(tx);
    return Object.entries(after).map(([name, read]): [string, number] => [name, read - (before[name] ?? 0)]);
  });
  await close();
  return Object.fromEntries(read.filter(([, read]) => read > 0));
}

/** The rows that this transaction has read of each table. */
async function counted(db: Db): Promise<Record<string, number>> {
  const tables = await queryRows<{ name: string; read: number }>(
    db,
    sql`select relname as name, (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_xact_user_tables`,
  );
  return Object.fromEntries(tables.map(({ name, read }) => [name, read]));
}

for (const analysed of [false, true]) {
  const known = analysed ? 'with statistics' : 'without statistics';
  t.test(`A round reads the expired rows and not all rows, in tables ${known}`, async (t) => {
    const [few, many] = [await rowsRead(FEW, { analysed }), await rowsRead(MANY, { analysed })];
    t.comment(JSON.stringify({ few, many }));
    for (const name of ['notifications', 'deliveries']) {
      t.ok((few[name] ?? 0) >= OLD, `${name} were pruned`);
      t.ok((many[name] ?? 0) <= (few[name] ?? 0) + 2_000, `${name}: ${few[name]} rows read, then ${many[name]}`);
    }
    // Of whole months, which are dropped.
    for (const name of PARTITIONS) t.ok((many[name] ?? 0) <= 10, `${name}: ${many[name]} rows read`);
    // One batch each, in the order of random ids, wherever the old rows are.
    for (const name of ['uploads', 'mails']) t.ok((many[name] ?? 0) <= 10_000, `${name}: ${many[name]} rows read`);
  });
}
