import { DAY_MS } from '@carillon/contract/primitives';
import { notifications, rateHits } from '@carillon/db';
import { asc } from 'drizzle-orm';
import t from 'tap';
import { toUtcDay } from '../../src/platform/limits/quotas.ts';
import { pruneAll } from '../../src/product/retention/prune.ts';
import { START, testContext } from '../support/context.ts';
import { signUp, signUpAlice } from '../support/people.ts';

const { app, ctx } = await testContext(t);
const daysAgo = (days: number) => new Date(START.getTime() - days * DAY_MS);

t.test('Notifications are deleted after their retention, read or not', async (t) => {
  const { id: userId } = await signUpAlice(app);
  await ctx.db.delete(notifications);
  const { notificationsDays } = ctx.config.retention;
  t.equal(notificationsDays, 90);
  const notification = (days: number, readAt: Date | null) => {
    const createdAt = new Date(daysAgo(days).getTime() - 1);
    return { userId, kind: 'alert', title: `${days}`, message: '', readAt, createdAt };
  };
  await ctx.db
    .insert(notifications)
    .values([notification(91, START), notification(90, null), notification(89, START), notification(89, null)]);
  await pruneAll({ ...ctx, config: { ...ctx.config, retention: { ...ctx.config.retention, notificationsDays: 0 } } });
  t.equal(await ctx.db.$count(notifications), 4, 'with 0 they stay');
  await pruneAll(ctx);
  const left = await ctx.db.select({ title: notifications.title }).from(notifications);
  t.same(left, [{ title: '89' }, { title: '89' }]);
});

t.test('Counts of rejected requests are deleted after 30 days, those of all users', async (t) => {
  const users = [await signUp(app), await signUp(app)];
  const counts = (userId: number) =>
    Array.from({ length: 1100 }, (_, n) => {
      const day = toUtcDay(daysAgo(n < 1090 ? 31 : 30));
      return { userId, day, endpoint: `GET /api/tasks/${n}`, hits: 1, lastHit: START };
    });
  for (const { id } of users) await ctx.db.insert(rateHits).values(counts(id));
  await Promise.all([pruneAll(ctx), pruneAll(ctx)]);
  const left = await ctx.db
    .select({ userId: rateHits.userId, day: rateHits.day })
    .from(rateHits)
    .orderBy(asc(rateHits.userId));
  t.same(
    left,
    users.flatMap(({ id }) => Array.from({ length: 10 }, () => ({ userId: id, day: toUtcDay(daysAgo(30)) }))),
  );
});
