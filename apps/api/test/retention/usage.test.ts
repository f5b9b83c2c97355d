import { DAY_MS } from '@carillon/contract/primitives';
import { apiKeys, apiKeyUsage, usageAlertFirings, usageAlerts, usageCounters, usageRecords, users } from '@carillon/db';
import { asc, sql } from 'drizzle-orm';
import t from 'tap';
import { preparePartitions } from '../../src/product/retention/partitions/change-partitions.ts';
import { createPruner, pruneAll } from '../../src/product/retention/prune.ts';
import { findWrongCounters } from '../../src/product/usage/verify.ts';
import { testContext } from '../support/context.ts';
import { findMonth } from '../support/partitions.ts';
import { type Person, signUp } from '../support/people.ts';
import { insertUsage, insertUsers } from '../support/task-rows.ts';

const { app, ctx, clock } = await testContext(t, { env: { RETENTION_USAGE_DAYS: '62' } });
const dayOf = (at: Date, days = 0) => new Date(at.getTime() + days * DAY_MS).toISOString().slice(0, 10);
let months: Date[];
let alice: Person;
t.before(async () => {
  months = await Promise.all(Array.from({ length: 8 }, (_, at) => findMonth(ctx, at)));
});
t.beforeEach(async () => {
  await ctx.db.delete(users);
  alice = await signUp(app);
});

const use = async (userId: number, days: readonly string[]) => {
  for (const day of days) await insertUsage(ctx, userId, { executions: 1, tokens: 10, day });
};
const readPeriods = async () =>
  (await ctx.db.select().from(usageCounters).orderBy(asc(usageCounters.period))).map(({ period }) => period);
const readDays = async () =>
  (await ctx.db.select().from(usageRecords).orderBy(asc(usageRecords.day))).map(({ day }) => day);

t.test('The ledger is stored for the configured days in whole months, the sums of months for ever', async (t) => {
  const [one, two, three] = months as [Date, Date, Date];
  const days = [dayOf(one), dayOf(two, -1), dayOf(two), dayOf(three, 3)];
  await use(alice.id, days);
  clock.set(new Date(two.getTime() + 62 * DAY_MS));
  await preparePartitions(ctx);
  await Promise.all([pruneAll(ctx), createPruner(ctx)(), pruneAll(ctx)]);
  t.same(await readDays(), days.slice(2));
  const periods = await readPeriods();
  t.same(
    periods.filter((period) => period.length === 7),
    [one, two, three].map((month) => dayOf(month).slice(0, 7)),
  );
  t.same(
    periods.filter((period) => period.length === 10),
    days.slice(2),
  );
  t.same(await findWrongCounters(ctx.db), [], 'the counters of months without a ledger are not compared');
  await ctx.db.delete(usageRecords);
  t.equal((await findWrongCounters(ctx.db)).length, 4, 'but those of the stored months are');
  await ctx.db.delete(usageCounters);
});

t.test('Counters of days, fired alerts and requests of API keys are deleted with the ledger', async (t) => {
  const [, two, three, four, , six] = months as [Date, Date, Date, Date, Date, Date];
  await insertUsers(ctx, 250);
  await ctx.db.execute(sql`insert into usage_counters (user_id, period) select id, ${dayOf(three)} from users`);
  const [alert] = await ctx.db
    .insert(usageAlerts)
    .values({ userId: alice.id, threshold: 50, notifyEmail: false, notifyWebhook: false, createdAt: two })
    .returning({ id: usageAlerts.id });
  const keyId = '3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d';
  const key = { id: keyId, userId: alice.id, name: 'a', prefix: 'a', secretHash: 'a', scopes: [], createdAt: two };
  await ctx.db.insert(apiKeys).values(key);
  const periods = [three, four].map((month) => dayOf(month).slice(0, 7));
  for (const period of periods) {
    const firing = { alertId: alert?.id as number, period, resource: 'tokens', firedAt: two };
    await ctx.db.insert(usageAlertFirings).values(firing);
    await ctx.db.insert(apiKeyUsage).values({ keyId, period, requests: 1 });
  }
  clock.set(new Date(six.getTime() + 10 * DAY_MS));
  await preparePartitions(ctx);
  await pruneAll(ctx);
  t.match(await ctx.db.select().from(usageAlertFirings), [{ period: periods[1] }]);
  t.match(await ctx.db.select().from(apiKeyUsage), [{ period: periods[1] }]);
  t.equal(await ctx.db.$count(usageCounters, sql`length(period) = 10`), 0);
});
