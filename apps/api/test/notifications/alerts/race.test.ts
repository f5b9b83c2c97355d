import { alerts, deliveries, executions, notifications, tasks } from '@carillon/db';
import { eq, inArray } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { alertOverdue } from '../../../src/product/notifications/alerts/overdue.ts';
import { tick } from '../../../src/product/system/tick.ts';
import { createAlertedTask, minutesAfter, PLANNED } from '../../support/alerts.ts';
import { recordDeadlocks } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTasks, insertUsers } from '../../support/task-rows.ts';

const { ctx, clock, alice, newProcess } = await testEngine(t);

const OVERDUE_AT = minutesAfter(15);
const DUE = { alerts: { overdueMinutes: 15 }, scheduledFor: PLANNED, nextExecutionAt: PLANNED, overdueAt: OVERDUE_AT };
const countByTask = async (kind: (typeof alerts.$inferSelect)['kind']) => {
  const found = await ctx.db.select({ taskId: alerts.taskId }).from(alerts).where(eq(alerts.kind, kind));
  return [...Map.groupBy(found, ({ taskId }) => taskId).values()].map(({ length }) => length);
};

t.test('Two processes that tick at once alert of each overdue task once', async (t) => {
  const own = await createAlertedTask(ctx, alice());
  await insertTasks(ctx, Array(450).fill(alice().id), DUE);
  clock.set(OVERDUE_AT);
  const processes = [newProcess(t), newProcess(t)];
  const deadlocks = processes.map((process) => recordDeadlocks(process.ctx));
  await Promise.all(
    processes.flatMap((process) => [
      tick(process.ctx, { wait: false }),
      alertOverdue(process.ctx),
      alertOverdue(process.ctx),
    ]),
  );
  t.same(await countByTask('task.overdue'), Array(451).fill(1));
  t.equal(await ctx.db.$count(notifications, eq(notifications.kind, 'task.overdue')), 451);
  const [alert] = await ctx.db.select().from(alerts).where(eq(alerts.taskId, own));
  t.equal(await ctx.db.$count(deliveries, eq(deliveries.alertId, alert?.id ?? 0)), 1);
  t.same(deadlocks.flat(), []);
});

t.test('A run that ends while it becomes overdue is alerted once or not at all', async (t) => {
  const people = await insertUsers(ctx, 20);
  const [soon, later] = [PLANNED, minutesAfter(1)];
  const early = await insertTasks(ctx, people, DUE);
  const late = await insertTasks(ctx, people, {
    ...DUE,
    scheduledFor: later,
    nextExecutionAt: later,
    overdueAt: minutesAfter(15, later),
  });
  clock.set(later);
  await enqueueDue(ctx);
  clock.set(OVERDUE_AT);
  const [runner, alarm] = [newProcess(t), newProcess(t)];
  const deadlocks = [runner, alarm].map((process) => recordDeadlocks(process.ctx));
  let isRunning = true;
  const checks = (async () => {
    while (isRunning) {
      await alertOverdue(alarm.ctx);
      // The others become overdue while runs end.
      clock.set(minutesAfter(15, later));
    }
  })();
  await runner.worker.drain();
  isRunning = false;
  await checks;
  t.equal(await ctx.db.$count(executions, eq(executions.status, 'completed')), 40);
  const overdue = await countByTask('task.overdue');
  t.same(overdue, Array(overdue.length).fill(1));
  t.same(await countByTask('task.recovered'), overdue, 'each alert is followed by the recovery');
  for (const [ids, planned] of [
    [early, soon],
    [late, later],
  ] as const) {
    const states = await ctx.db.select().from(tasks).where(inArray(tasks.id, ids));
    t.match(states, Array(20).fill({ overdueAt: minutesAfter(24 * 60 + 15, planned), alertingSince: null }));
  }
  t.same(deadlocks.flat(), []);
});
