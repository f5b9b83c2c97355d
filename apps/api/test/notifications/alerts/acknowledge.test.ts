import { auditLog } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { executeTask } from '../../../src/product/executions/start.ts';
import { acknowledgeAlert, acknowledgeTasks } from '../../../src/product/notifications/alerts/acknowledge.ts';
import { getOverview } from '../../../src/product/system/stats/overview.ts';
import { createAlertedTask, readAlerts } from '../../support/alerts.ts';
import { testEngine } from '../../support/engine.ts';
import { signUp } from '../../support/people.ts';

const { app, ctx, ai, clock, alice, newWorker } = await testEngine(t);

async function run(task: number) {
  clock.set(new Date(ctx.now().getTime() + 1000));
  await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
}
const fail = (status = 401) => ai.answer(() => ({ status }));
const AUTH = 'failing AUTHENTICATION_FAILED';
const causes = async () => (await getOverview(ctx, alice())).causes.map(({ kind }) => kind);

t.test('An acknowledged alert puts its cause away until the task is stopped, or its error changes', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { alerts: { failuresInRow: 1 }, maxRetries: 0 });
  fail();
  await run(task);
  t.same(await causes(), ['failing']);
  const [alert] = await readAlerts(ctx, task);
  const acknowledged = await acknowledgeAlert(ctx, alice(), alert?.id as number);
  t.match(acknowledged, { id: alert?.id, kind: 'task.failing', acknowledgedAt: ctx.now() });
  t.same(await causes(), []);
  clock.set(new Date(ctx.now().getTime() + 5000));
  t.same((await acknowledgeAlert(ctx, alice(), alert?.id as number)).acknowledgedAt, acknowledged.acknowledgedAt);
  await run(task);
  t.same(await causes(), [], 'the same failure again');
  ai.answer(() => ({ status: 400 }));
  await run(task);
  t.same(await causes(), ['failing'], 'another failure');
  t.equal(await acknowledgeTasks(ctx, alice(), [task], AUTH), 0, 'the cause of a page that was read before');
  t.same(await causes(), ['failing']);
  t.equal(await acknowledgeTasks(ctx, alice(), [task], 'failing INVALID_REQUEST'), 1);
  t.same(await causes(), []);
  await run(task);
  await run(task);
  t.same(await causes(), ['stopped']);
  t.equal(await acknowledgeTasks(ctx, alice(), [task], 'stopped INVALID_REQUEST'), 1);
  t.same(await causes(), []);
  t.match(await ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'alert.acknowledged')).orderBy(auditLog.id), [
    { actorId: alice().id, details: { taskId: task, cause: AUTH } },
    {},
    { details: { taskId: task, cause: 'failing INVALID_REQUEST' } },
    { details: { taskId: task, cause: 'stopped INVALID_REQUEST' } },
  ]);
});

t.test('A task that has recovered and fails again needs attention again', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { alerts: { failuresInRow: 1 }, maxRetries: 0 });
  fail();
  await run(task);
  await acknowledgeTasks(ctx, alice(), [task], AUTH);
  ai.answer(() => ({ text: 'Done.' }));
  await run(task);
  fail();
  await run(task);
  t.same(await causes(), ['failing']);
});

t.test('The alert is answered with what was acknowledged, and a stranger does not find it', async (t) => {
  const eve = await signUp(app, { name: 'Eve' });
  const task = await createAlertedTask(ctx, alice(), { alerts: { failuresInRow: 1 }, maxRetries: 0 });
  fail();
  await run(task);
  const [alert] = await readAlerts(ctx, task);
  const url = `/api/alerts/${alert?.id}/acknowledge`;
  t.equal((await app.inject({ method: 'POST', url, headers: eve.headers })).statusCode, 404);
  t.equal(await acknowledgeTasks(ctx, { ...alice(), id: eve.id }, [task], AUTH), 0);
  t.same(await causes(), ['failing']);
  t.equal(
    (await app.inject({ method: 'POST', url: '/api/alerts/0/acknowledge', headers: eve.headers })).statusCode,
    404,
  );
});
