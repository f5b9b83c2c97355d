import { DAY_MS } from '@carillon/contract/primitives';
import { alerts, mails } from '@carillon/db';
import { asc } from 'drizzle-orm';
import t from 'tap';
import { pruneAll } from '../../src/product/retention/prune.ts';
import { START, testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';
import { insertTask } from '../support/task-rows.ts';

const { app, ctx } = await testContext(t);

t.test('Alerts are deleted after their retention, and the mails about them stay for theirs', async (t) => {
  const { id: userId } = await signUpAlice(app);
  const taskId = await insertTask(ctx, userId);
  const { alertsDays } = ctx.config.retention;
  t.equal(alertsDays, 90);
  const alert = (days: number) => {
    const at = new Date(START.getTime() - days * DAY_MS - 1);
    return {
      userId,
      taskId,
      kind: 'task.overdue' as const,
      at,
      title: `${days}`,
      message: '',
      data: {},
      createdAt: at,
    };
  };
  const made = await ctx.db
    .insert(alerts)
    .values([alert(91), alert(90), alert(89)])
    .returning({ id: alerts.id });
  const id = '3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d';
  const mail = {
    recipient: 'a@example.com',
    subject: 'Late',
    createdAt: START,
    nextAttemptAt: START,
    bodyEncrypted: '',
  };
  await ctx.db.insert(mails).values({ ...mail, id, userId, alertId: made[0]?.id });
  await pruneAll({ ...ctx, config: { ...ctx.config, retention: { ...ctx.config.retention, alertsDays: 0 } } });
  t.equal(await ctx.db.$count(alerts), 3, 'with 0 they stay');
  await pruneAll(ctx);
  const left = await ctx.db.select().from(alerts).orderBy(asc(alerts.id));
  t.same(
    left.map(({ title }) => title),
    ['89'],
  );
  t.match(await ctx.db.select().from(mails), [{ id, alertId: null }]);
});
