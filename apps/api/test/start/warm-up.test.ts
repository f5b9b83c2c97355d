import { connect, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../src/context.ts';
import { enqueueDue } from '../../src/executions/pipeline/enqueue.ts';
import { warmUp } from '../../src/start/warm-up.ts';
import { testEngine } from '../support/engine.ts';
import { insertQueuedRuns, insertTask, readRun, readTaskRow } from '../support/task-rows.ts';

const { ctx, ai, alice, databaseUrl, logged, newWorker } = await testEngine(t);

/** Statements are prepared on each connection. */
function withOneConnection(t: { teardown(work: () => Promise<void>): unknown }): Context {
  const { db, close } = connect(databaseUrl, { max: 1 });
  t.teardown(close);
  return { ...ctx, db };
}

const readPrepared = async ({ db }: Context) => {
  const rows = await queryRows<{ statement: string }>(db, sql`select statement from pg_prepared_statements`);
  return rows.map(({ statement }) => statement);
};

t.test('The first run after a warm-up sends only statements that are prepared', async (t) => {
  const own = withOneConnection(t);
  const task = await insertTask(ctx, alice().id);
  await warmUp(own);
  await readPrepared(own);
  const prepared = await readPrepared(own);
  await enqueueDue(own);
  await newWorker(t, own).drain();
  t.match(await readRun(ctx, task), { status: 'completed' });
  t.strictSame(
    (await readPrepared(own)).filter((statement) => !prepared.includes(statement)),
    [],
  );
});

t.test('A warm-up stores nothing, runs no task that is due or queued, and calls no provider', async (t) => {
  const due = await insertTask(ctx, alice().id);
  const queued = await insertTask(ctx, alice().id, { nextExecutionAt: null });
  await insertQueuedRuns(ctx, [queued]);
  const read = async () => ({
    rows: await countRows(ctx),
    due: await readTaskRow(ctx, due),
    queued: await readRun(ctx, queued),
    lastExecutionId: await queryRows(ctx.db, sql`select last_value from executions_id_seq`),
  });
  const before = await read();
  await warmUp(ctx);
  t.strictSame(await read(), before);
  t.strictSame(ai.requests, []);
  t.strictSame(logged, []);
});

t.test('A warm-up that fails is logged and does not throw', async (t) => {
  const { db, close } = connect(databaseUrl);
  await close();
  await warmUp({ ...ctx, db });
  t.match(logged, [{ msg: 'the warm-up failed: the first runs take longer' }]);
});

/** The number of rows of each table. */
async function countRows({ db }: Context): Promise<Record<string, number>> {
  const tables = await queryRows<{ name: string }>(
    db,
    sql`select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await queryRows<{ count: number }>(
      db,
      sql`select count(*)::int as count from ${sql.identifier(name)}`,
    );
    counts[name] = row?.count ?? Number.NaN;
  }
  return counts;
}
