import { checkOldSnapshots } from '@carillon/api/product/system/checks/old-snapshots';
import { getTexts } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';

const { ctx } = await testContext(t);
const check = async () =>
  (await checkOldSnapshots(ctx.db, getTexts('en').doctor, 10)).map(({ level, message }) => `${level}: ${message}`);

t.test('The doctor finds a transaction that keeps the dead rows of many others', async (t) => {
  await ctx.db.transaction(async (tx) => {
    await tx.execute(sql`set transaction isolation level repeatable read`);
    await tx.execute(sql`select 1`);
    for (let n = 0; n < 20; n++) await ctx.db.execute(sql`select pg_current_xact_id()`);
    const found = await check();
    t.ok(
      found.some((one) =>
        /^warning: Dead rows of the last \d+ transactions are kept for a transaction of carillon,/.test(one),
      ),
      found.join(),
    );
  });
});
