import { DAY_MS } from '@carillon/contract/primitives';
import { auditLog, eventPositions, events, occurrences, queryRows } from '@carillon/db';
import { SQLSTATE } from '@carillon/db/errors';
import { listPartitions } from '@carillon/db/partitions';
import { asc, sql } from 'drizzle-orm';
import t from 'tap';
import { preparePartitions } from '../../src/product/retention/partitions/change-partitions.ts';
import { AUDIT_LOG, EVENTS, OCCURRENCES } from '../../src/product/retention/partitions/month-partitions.ts';
import { createPruner, pruneAll } from '../../src/product/retention/prune.ts';
import { testContext } from '../support/context.ts';
import { untilBlocked } from '../support/database.ts';
import { findMonth } from '../support/partitions.ts';
import { signUp } from '../support/people.ts';
import { insertTask, readLedger } from '../support/task-rows.ts';
import { recordManyEvents } from '../support/webhooks.ts';

const env = { RETENTION_EVENTS_DAYS: '7', RETENTION_OCCURRENCES_DAYS: '60', RETENTION_AUDIT_DAYS: '30' };
const { app, ctx, clock } = await testContext(t, { env });
const alice = await signUp(app);
const start = await findMonth(ctx);
const [second, third] = [await findMonth(ctx, 1), await findMonth(ctx, 2)];
const daysAfter = (at: Date, days: number, ms = 0) => new Date(at.getTime() + days * DAY_MS + ms);
const nameOf = (table: { name: string }, month: Date) =>
  `${table.name}_${month.toISOString().slice(0, 7).replace('-', '_')}`;

async function locate(table: { name: string }, column: string) {
  const rows = await queryRows<{ partition: string }>(
    ctx.db,
    sql`select tableoid::regclass::text as partition from ${sql.identifier(table.name)} order by ${sql.identifier(column)}`,
  );
  return rows.map(({ partition }) => partition);
}

t.test('Rows are stored with their month, also before its partition was made', async (t) => {
  await ctx.db.delete(auditLog);
  const entry = (at: Date) => ({ at, kind: 'test', details: {} });
  await ctx.db
    .insert(auditLog)
    .values([entry(daysAfter(start, 0, -1)), entry(start), entry(daysAfter(second, 0, -1)), entry(second)]);
  const first = 'audit_log_before';
  t.same(await locate(AUDIT_LOG, 'at'), [first, 'audit_log_later', 'audit_log_later', 'audit_log_later']);
  clock.set(start);
  await Promise.all([preparePartitions(ctx), preparePartitions(ctx)]);
  const [one, two] = [nameOf(AUDIT_LOG, start), nameOf(AUDIT_LOG, second)];
  t.same(await locate(AUDIT_LOG, 'at'), [first, one, one, two]);
  const partitions = await listPartitions(ctx.db, AUDIT_LOG);
  t.same(
    partitions.map(({ name }) => name),
    [first, one, two, 'audit_log_later'],
    'up to the next month',
  );
});

t.test('A month is dropped when its last day is older than the retention', async (t) => {
  clock.set(daysAfter(second, 30, -1));
  await preparePartitions(ctx);
  await pruneAll(ctx);
  t.same(await locate(AUDIT_LOG, 'at'), [
    nameOf(AUDIT_LOG, start),
    nameOf(AUDIT_LOG, start),
    nameOf(AUDIT_LOG, second),
  ]);
  clock.advance(1);
  await Promise.all([pruneAll(ctx), createPruner(ctx)(), pruneAll(ctx)]);
  t.same(await locate(AUDIT_LOG, 'at'), [nameOf(AUDIT_LOG, second)]);
});

t.test('While a reader uses a month it stays, and pruning goes on with the other kinds', async (t) => {
  clock.set(daysAfter(third, 31));
  await ctx.db.transaction(async (tx) => {
    await tx.select().from(auditLog);
    await pruneAll(ctx);
    t.equal(await ctx.db.$count(auditLog), 1);
  });
  await pruneAll(ctx);
  t.equal(await ctx.db.$count(auditLog), 0);
});

t.test('Occurrences of active single-run tasks outlive their month, and those that were recorded later', async (t) => {
  const recurring = await insertTask(ctx, alice.id);
  const waiting = await insertTask(ctx, alice.id, { recurrence: 'once', nextExecutionAt: null });
  const ended = await insertTask(ctx, alice.id, { recurrence: 'once', nextExecutionAt: null, status: 'completed' });
  const planned = (taskId: number, plannedFor: Date, recordedAt = plannedFor) =>
    ctx.db.insert(occurrences).values({ taskId, plannedFor, recordedAt, fate: 'ran' });
  clock.set(third);
  await preparePartitions(ctx);
  for (const task of [recurring, waiting, ended]) await planned(task, start);
  await planned(recurring, daysAfter(start, 1), daysAfter(second, 20));
  await planned(waiting, daysAfter(second, 1));
  const left = async () => (await ctx.db.select().from(occurrences).orderBy(asc(occurrences.plannedFor))).length;
  clock.set(daysAfter(second, 60));
  await pruneAll(ctx);
  t.equal(await left(), 3);
  t.same(await readLedger(ctx, recurring), [[daysAfter(start, 1).toISOString(), 'ran']]);
  clock.set(daysAfter(third, 60));
  await pruneAll(ctx);
  t.same(await readLedger(ctx, recurring), []);
  t.equal((await readLedger(ctx, waiting)).length, 2);
  const names = (await listPartitions(ctx.db, OCCURRENCES)).map(({ name }) => name);
  t.same(names.slice(0, 1), ['occurrences_earlier']);
  t.not(names.includes(nameOf(OCCURRENCES, second)), true);
  await ctx.db.execute(sql`delete from tasks where id = ${waiting}`);
  t.equal(await left(), 0);
});

t.test('While the rows of a month that stay are looked for, no task is locked', async (t) => {
  const task = await insertTask(ctx, alice.id);
  const [month, end] = [await findMonth(ctx, 3), await findMonth(ctx, 4)];
  clock.set(month);
  await preparePartitions(ctx);
  clock.set(daysAfter(end, 59));
  await pruneAll(ctx);
  clock.set(daysAfter(end, 60));
  let pruning: Promise<void> | undefined;
  await ctx.db.transaction(async (tx) => {
    await tx.insert(occurrences).values({ taskId: task, plannedFor: month, recordedAt: month, fate: 'ran' });
    pruning = pruneAll(ctx);
    await untilBlocked(ctx.db);
    const locks = sql`select mode from pg_locks where relation = 'tasks'::regclass and mode = 'AccessExclusiveLock'`;
    t.same(await queryRows(tx, locks), []);
  });
  await pruning;
  await pruneAll(ctx);
  t.same(await readLedger(ctx, task), []);
});

t.test('Ids of events continue after the dropped ones', async (t) => {
  const [fifth, sixth] = [await findMonth(ctx, 4), await findMonth(ctx, 5)];
  clock.set(fifth);
  await preparePartitions(ctx);
  await ctx.db.delete(eventPositions);
  await ctx.db.delete(events);
  await recordManyEvents(ctx, alice.id, 2);
  clock.set(daysAfter(sixth, 8));
  await pruneAll(ctx);
  t.equal(await ctx.db.$count(events), 0);
  await recordManyEvents(ctx, alice.id, 1);
  t.match(await ctx.db.select().from(events), [{ userId: alice.id, id: 3 }]);
  t.same(await locate(EVENTS, 'id'), [nameOf(EVENTS, sixth)]);
});

t.test('An instant before the first month is still recorded, and deleted after its retention', async (t) => {
  const task = await insertTask(ctx, alice.id);
  clock.set(await findMonth(ctx, 12));
  await preparePartitions(ctx);
  await pruneAll(ctx);
  await ctx.db
    .insert(occurrences)
    .values({ taskId: task, plannedFor: start, recordedAt: ctx.now(), fate: 'late' })
    .onConflictDoUpdate({ target: [occurrences.taskId, occurrences.plannedFor], set: { fate: 'late' } });
  t.equal((await readLedger(ctx, task)).length, 1);
  clock.set(await findMonth(ctx, 16));
  await preparePartitions(ctx);
  await pruneAll(ctx);
  t.equal((await readLedger(ctx, task)).length, 0);
});

t.test('A failure leaves the month as it is', async (t) => {
  const task = await insertTask(ctx, alice.id, { recurrence: 'once', nextExecutionAt: null });
  const at = await findMonth(ctx, 17);
  await ctx.db.insert(occurrences).values({ taskId: task, plannedFor: at, recordedAt: at, fate: 'ran' });
  clock.set(await findMonth(ctx, 21));
  await preparePartitions(ctx);
  await ctx.db.execute(
    sql`alter table occurrences_earlier add check (planned_for < ${sql.raw(`'${at.toISOString()}'`)})`,
  );
  await t.rejects(pruneAll(ctx));
  t.equal((await readLedger(ctx, task)).length, 1);
  await ctx.db.execute(sql`alter table occurrences_earlier drop constraint occurrences_earlier_planned_for_check`);
  await pruneAll(ctx);
  t.same(await locate(OCCURRENCES, 'planned_for'), ['occurrences_earlier']);
});

t.test('A partition that takes too long to make is given up, and made later', async (t) => {
  const at = await findMonth(ctx, 30);
  await ctx.db.insert(auditLog).values({ at, kind: 'test', details: {} });
  clock.set(at);
  await ctx.db.execute(
    sql`alter table audit_log_later add constraint slow check (pg_sleep(30)::text is not null) not valid`,
  );
  await t.rejects(preparePartitions(ctx), { cause: { code: SQLSTATE.queryCanceled } });
  t.same(await locate(AUDIT_LOG, 'at'), ['audit_log_later']);
  await ctx.db.execute(sql`alter table audit_log_later drop constraint slow`);
  await preparePartitions(ctx);
  t.same(await locate(AUDIT_LOG, 'at'), [nameOf(AUDIT_LOG, at)]);
});
