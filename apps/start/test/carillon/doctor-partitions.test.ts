import { preparePartitions } from '@carillon/api/product/retention/partitions/change-partitions';
import { checkPartitions } from '@carillon/api/product/system/checks/partitions';
import { DAY_MS, MAX_ID } from '@carillon/contract/primitives';
import { getTexts } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';

const { ctx } = await testContext(t);
const now = new Date();
const later = new Date(now.getTime() + 40 * DAY_MS);
const prepareUntil = (at: Date) => preparePartitions({ ...ctx, now: () => at });
const check = async (at: Date) =>
  (await checkPartitions(ctx.db, at, getTexts('en').doctor)).map(({ level, message }) => `${level}: ${message}`);
const OK = 'ok: the partitions of this month and the next exist';
const missing = (table: string) =>
  `warning: ${table} has no partition for new rows, which are stored in ${table}_later.`;

t.test('The doctor finds tables whose partitions are not made any more', async (t) => {
  await prepareUntil(now);
  t.same(await check(now), [OK]);
  t.same(await check(later), ['occurrences', 'events', 'usage_records', 'audit_log'].map(missing));
  await prepareUntil(later);
  t.same(await check(later), [OK]);
});

t.test('The doctor finds executions beyond their partitions, and few ids left', async (t) => {
  const skipTo = (id: number) => ctx.db.execute(sql`select setval('executions_id_seq', ${Math.ceil(id)}, false)`);
  await skipTo(0.75 * MAX_ID);
  const few = 'warning: 75 % of the ids of executions are used, and none is used twice.';
  t.same(await check(later), [missing('executions'), few]);
  await prepareUntil(later);
  t.same(await check(later), [few]);
  await skipTo(0.96 * MAX_ID);
  await prepareUntil(later);
  t.same(await check(later), ['problem: 96 % of the ids of executions are used, and none is used twice.']);
});
