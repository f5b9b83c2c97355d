import { queryRows } from '@carillon/db';
import { listPartitions } from '@carillon/db/partitions';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { preparePartitions } from '../../src/product/retention/partitions/change-partitions.ts';
import { HISTORY } from '../../src/product/retention/partitions/execution-partitions.ts';
import { testContext } from '../support/context.ts';
import { untilBlocked } from '../support/database.ts';
import { signUpAlice } from '../support/people.ts';
import { insertEndedRuns, insertTask } from '../support/task-rows.ts';

const { app, ctx, clock } = await testContext(t);
const { id: userId } = await signUpAlice(app);
const taskId = await insertTask(ctx, userId);

const list = async () => (await listPartitions(ctx.db, HISTORY)).map(({ from, until }) => [from, until]);
const moveIds = (to: number) => ctx.db.execute(sql`select setval('executions_id_seq', ${to})`);
/** The partition of each execution, by its id. */
async function locate() {
  const rows = await queryRows<{ id: number; partition: string }>(
    ctx.db,
    sql`select id, tableoid::regclass::text as partition from executions order by id`,
  );
  return rows.map(({ id, partition }) => [id, partition]);
}

t.test('The next partition is made ahead, once', async (t) => {
  t.same(await list(), [
    [null, '200000'],
    ['200000', null],
  ]);
  await Promise.all([preparePartitions(ctx), preparePartitions(ctx), preparePartitions(ctx)]);
  const prepared = [
    [null, '200000'],
    ['200000', '300000'],
    ['300000', null],
  ];
  t.same(await list(), prepared);
  await preparePartitions(ctx);
  t.same(await list(), prepared);
});

t.test('A month begins with the ids of the next partition, if the one before was used', async (t) => {
  clock.set(new Date('2026-12-01T00:00:00Z'));
  await preparePartitions(ctx);
  await insertEndedRuns(ctx, { taskId, userId, count: 2 });
  t.same(await locate(), [
    [1, 'executions_from_1'],
    [2, 'executions_from_1'],
  ]);
  await preparePartitions(ctx);
  clock.set(new Date('2027-01-01T00:00:00Z'));
  await preparePartitions(ctx);
  await insertEndedRuns(ctx, { taskId, userId, count: 1 });
  t.same((await locate()).at(-1), [200_000, 'executions_from_200000']);
  await preparePartitions(ctx);
  t.same(await list(), [
    [null, '200000'],
    ['200000', '300000'],
    ['300000', '400000'],
    ['400000', null],
  ]);
});

t.test('A partition gets twice the ids that the month before needed', async (t) => {
  await moveIds(299_999);
  await insertEndedRuns(ctx, { taskId, userId, count: 1 });
  t.same((await locate()).at(-1), [300_000, 'executions_from_300000'], 'a month with more runs uses the next one');
  await preparePartitions(ctx);
  t.same((await list()).slice(2), [
    ['300000', '400000'],
    ['400000', '500000'],
    ['500000', null],
  ]);
  await moveIds(379_999);
  await insertEndedRuns(ctx, { taskId, userId, count: 1 });
  clock.set(new Date('2027-02-01T00:00:00Z'));
  await preparePartitions(ctx);
  t.same((await list()).slice(4), [
    ['500000', '660000'],
    ['660000', null],
  ]);
});

t.test('Executions whose ids no partition was made for are stored, and moved to it', async (t) => {
  await moveIds(700_000);
  await insertEndedRuns(ctx, { taskId, userId, count: 2 });
  t.same((await locate()).at(-1), [700_002, 'executions_later']);
  await preparePartitions(ctx);
  t.same((await locate()).at(-1), [700_002, 'executions_from_660000']);
  const [, , , , , , last] = await list();
  t.match(last, [/^\d+$/, null]);
});

t.test('While a table is in use, partitions are left as they are', async (t) => {
  clock.set(new Date('2027-03-01T00:00:00Z'));
  const before = await list();
  await ctx.db.transaction(async (tx) => {
    await tx.execute(sql`select count(*) from executions`);
    await preparePartitions(ctx);
    await preparePartitions(ctx);
    t.same(await list(), before);
  });
  await preparePartitions(ctx);
  await preparePartitions(ctx);
  t.not((await list()).length, before.length);
});

t.test('A reader that reaches the last partition while one is made delays it, and prevents nothing', async (t) => {
  await moveIds(Number((await list()).at(-1)?.[0]) - 1);
  const before = await list();
  let preparing: Promise<void> | undefined;
  await ctx.db.transaction(async (tx) => {
    // A reader locks the table first, and its partitions then.
    await tx.execute(sql`lock table only executions_history in access share mode`);
    preparing = preparePartitions(ctx);
    await untilBlocked(ctx.db);
    await tx.execute(sql`select count(*) from executions_later`);
  });
  await preparing;
  t.equal((await list()).length, before.length + 1);
});
