import { events, mails, notifications, schedulerState, users } from '@carillon/db';
import { asc, eq, inArray, like } from 'drizzle-orm';
import t from 'tap';
import {
  createCallRecorder,
  isSchedulerSilent,
  reportSilence,
} from '../../../src/product/system/health/silent-scheduler.ts';
import { CRON_SECRET, START } from '../../support/context.ts';
import { recordDeadlocks } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { signUp, signUpAda, signUpBob } from '../../support/people.ts';

const { ctx, app, clock, newProcess } = await testEngine(t);
const after = (ms: number) => new Date(START.getTime() + ms);
const MINUTE = 60_000;

const readState = async () => (await ctx.db.select().from(schedulerState))[0];
const setCall = (lastCalledAt: Date) => ctx.db.update(schedulerState).set({ lastCalledAt, silentSince: null });
const call = () =>
  app.inject({
    url: '/api/cron/scheduler',
    headers: { authorization: `Bearer ${CRON_SECRET}`, prefer: 'respond-async' },
  });
const notices = () =>
  ctx.db
    .select({ userId: notifications.userId, kind: notifications.kind, message: notifications.message })
    .from(notifications)
    .where(like(notifications.kind, 'scheduler.%'))
    .orderBy(asc(notifications.id));
const readReadiness = async () => {
  const answer = await app.inject('/api/health/ready');
  return { statusCode: answer.statusCode, ...answer.json() };
};
t.beforeEach(() => setCall(START));

t.test('A scheduler that has not called for two minutes is reported to each admin, once', async (t) => {
  const ada = await signUpAda(app);
  const [bob, former] = [await signUpBob(app), await signUp(app, { name: 'Eve', role: 'ADMIN' })];
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, former.id));
  clock.set(after(2 * MINUTE - 1));
  await reportSilence(ctx, START);
  t.same(await notices(), []);
  clock.set(after(2 * MINUTE));
  await reportSilence(ctx, START);
  await reportSilence(ctx, START);
  t.match(await notices(), [
    { userId: ada.id, kind: 'scheduler.silent', message: /^Its last call was on 20 November 2026 at 10:00\. / },
  ]);
  t.equal((await notices()).length, 1);
  const [mail, ...others] = await ctx.db.select().from(mails).where(eq(mails.subject, 'The scheduler is silent'));
  t.match(mail, { recipient: 'ada@example.com' });
  t.same(others, []);
  const logged = await ctx.db
    .select()
    .from(events)
    .where(inArray(events.userId, [ada.id, bob.id, former.id]));
  t.match(logged, [{ userId: ada.id, kinds: ['scheduler.silent'], data: JSON.stringify({ lastCalledAt: START }) }]);
  t.equal(logged.length, 1);
});

t.test('The next call ends the silence with a notification, and a new silence is reported again', async (t) => {
  await signUpAda(app);
  clock.set(after(3 * MINUTE));
  await reportSilence(ctx, START);
  clock.set(after(4 * MINUTE));
  t.equal((await call()).statusCode, 200);
  t.match(await readState(), { lastCalledAt: after(4 * MINUTE), silentSince: null });
  clock.set(after(6 * MINUTE));
  await reportSilence(ctx, START);
  t.match(await notices(), [
    { kind: 'scheduler.silent' },
    { kind: 'scheduler.back', message: 'It was silent since 20 November 2026 at 10:03.' },
    { kind: 'scheduler.silent', message: /was on 20 November 2026 at 10:04\./ },
  ]);
});

t.test('Several processes report one silence and its end once', async (t) => {
  await signUpAda(app);
  const processes = [newProcess(t), newProcess(t), newProcess(t)];
  const deadlocks = processes.map((process) => recordDeadlocks(process.ctx));
  clock.set(after(3 * MINUTE));
  await Promise.all([...processes, ...processes].map((process) => reportSilence(process.ctx, START)));
  await Promise.all([...processes, ...processes].map((process) => createCallRecorder(process.ctx)()));
  t.same(
    (await notices()).map(({ kind }) => kind),
    ['scheduler.silent', 'scheduler.back'],
  );
  t.same(deadlocks.flat(), []);
});

t.test('A process that has just started raises no alarm, whatever the database says', async (t) => {
  await signUpAda(app);
  await setCall(after(-86_400_000));
  clock.set(after(2 * MINUTE - 1));
  await reportSilence(ctx, START);
  t.same(await notices(), []);
  t.equal(isSchedulerSilent(after(-86_400_000), START, after(2 * MINUTE - 1)), false);
  t.equal(isSchedulerSilent(after(-86_400_000), START, after(2 * MINUTE)), true);
});

t.test('A process records calls every 10 seconds at most', async (t) => {
  const recordCall = createCallRecorder(ctx);
  const recorded = async (ms: number) => {
    clock.set(after(ms));
    await recordCall();
    return (await readState())?.lastCalledAt;
  };
  t.same(await recorded(20_000), after(20_000));
  t.same(await recorded(29_999), after(20_000));
  t.same(await recorded(31_000), after(31_000));
  t.same(await recorded(0), START, 'a clock that was ahead is corrected');
});

t.test('Readiness shows a silent scheduler, and stays ready, so that it can call again', async (t) => {
  await call();
  t.match(await readReadiness(), { statusCode: 200, status: 'ready', checks: { scheduler: 'ok' } });
  clock.set(after(2 * MINUTE));
  t.match(await readReadiness(), { statusCode: 200, status: 'ready', checks: { scheduler: 'silent' } });
  await call();
  t.match(await readReadiness(), { statusCode: 200, checks: { scheduler: 'ok' } });
});

t.test('The worker of an API process watches the scheduler', async (t) => {
  await signUpAda(app);
  const { worker } = newProcess(t);
  worker.start();
  // The first check reads the clock after this.
  clock.set(after(3 * MINUTE));
  while ((await notices()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await worker.stop();
  t.match(await notices(), [{ kind: 'scheduler.silent' }]);
});
