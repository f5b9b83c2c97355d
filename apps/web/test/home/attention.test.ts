import { eq } from 'drizzle-orm';
import t from 'tap';
import { settings, users } from '../../../../packages/db/src/index.ts';
import { insertChannel } from '../../../api/test/support/channel-rows.ts';
import { testEngine } from '../../../api/test/support/engine.ts';
import { type Person, signUp } from '../../../api/test/support/people.ts';
import { insertTask, insertUsage } from '../../../api/test/support/task-rows.ts';
import { type ShownPage, visit } from '../support/visitor.ts';

const { app, ctx, clock, ai, runDue } = await testEngine(t);
let dave: Person;
t.beforeEach(async () => {
  dave = await signUp(app, { name: 'Dave', timezone: 'Europe/Berlin' });
});
const MORNING = '2026-11-24T05:28:00.000Z';

const insert = (
  name: string,
  recurrencePattern: string,
  next: string,
  given: Parameters<typeof insertTask>[2] = {},
) => {
  const at = new Date(next);
  return insertTask(ctx, dave.id, {
    name,
    scheduledFor: at,
    nextExecutionAt: at,
    recurrence: 'daily',
    recurrencePattern,
    maxRetries: 0,
    ...given,
  });
};
const needsOf = ({ document }: ShownPage) =>
  document.querySelectorAll('.needs > li').map((need) => ({
    text: need.querySelector('p')?.text.replace(/\s+/g, ' '),
    actions: need.querySelectorAll('.do :is(a, button)').map(({ text }) => text),
  }));

/** A task that was stopped after five failures, and one that failed once. */
async function failTasks(t: Parameters<typeof runDue>[0]) {
  clock.set('2026-11-20T10:00:00.000Z');
  ai.answer(() => ({ status: 401 }));
  const stopped = await insert('Stopped', '* * * * *', '2026-11-20T10:01:00Z');
  const failing = await insert('Failing', '5 10 * * *', '2026-11-20T10:05:00Z');
  for (let minute = 1; minute <= 5; minute += 1) {
    clock.set(`2026-11-20T10:0${minute}:00.000Z`);
    await runDue(t);
  }
  return { stopped, failing };
}

t.test(
  'A task that was stopped is said before one that failed, and each can be resumed, run or put away',
  async (t) => {
    const { stopped } = await failTasks(t);
    const visitor = visit(app, dave);
    const page = await visitor.open('/');
    t.match(needsOf(page), [
      {
        text: /^Stopped was stopped after 5 failed runs, last today at 11:05\. /,
        actions: ['See why: Stopped', 'Resume: Stopped', 'I know: Stopped'],
      },
      {
        text: /^Failing failed, last today at 11:05\. /,
        actions: ['See why: Failing', 'Run again: Failing', 'I know: Failing'],
      },
    ]);
    const known = await visitor.submit(page, 'I know: Stopped');
    t.match(known, { url: '/', text: /It is listed again when it changes\./ });
    t.match(needsOf(known), [{ text: /^Failing failed/ }]);
    t.equal(needsOf(known).length, 1);
    const resumed = await visitor.submit(page, 'Resume: Stopped');
    t.match(resumed, { url: `/tasks/${stopped}`, text: /The task is resumed\./ });
  },
);

t.test('The form of a page that was read before the cause changed puts nothing away', async (t) => {
  await failTasks(t);
  const visitor = visit(app, dave);
  const page = await visitor.open('/');
  ai.answer(() => ({ status: 400 }));
  await visitor.submit(page, 'Run again: Failing');
  await runDue(t);
  const known = await visitor.submit(page, 'I know: Failing');
  t.match(known.text, /It has changed, so it is still listed\./);
  t.match(needsOf(known)[1]?.text, /^Failing failed 2 times in a row/);
});

/** Six tasks that fail for six reasons. */
const REASONS = [400, 401, 403, 404, 413, 422];

t.test('More than five causes open in place, and what is switched off comes before single failures', async (t) => {
  clock.set('2026-11-20T10:00:00.000Z');
  for (const [at, status] of REASONS.entries()) {
    const due = `2026-11-20T10:0${at + 1}:00.000Z`;
    ai.answer(() => ({ status, body: { error: { message: `Reason ${at}` } } }));
    await insert(`Task ${at}`, `${at + 1} 10 * * *`, due);
    clock.set(due);
    await runDue(t);
  }
  await insertChannel(ctx, dave.id, { name: 'Phone', status: 'failed' });
  const page = await visit(app, dave).open('/');
  const needs = needsOf(page);
  t.match(needs[0], { text: /^Channel Phone is off/, actions: ['See why', 'Switch on'] });
  t.equal(page.document.querySelectorAll('section > .needs > li').length, 5);
  t.equal(page.document.querySelector('details > summary')?.text, `and ${needs.length - 5} more`);
  t.equal(page.document.querySelectorAll('details > .needs > li').length, needs.length - 5);
});

t.test('Tasks that fail for one reason are one cause, and are run again or put away together', async (t) => {
  clock.set('2026-11-20T10:00:00.000Z');
  ai.answer(() => ({ status: 401 }));
  for (const name of ['One', 'Two', 'Three', 'Four']) await insert(name, '1 10 * * *', '2026-11-20T10:01:00Z');
  clock.set('2026-11-20T10:01:00.000Z');
  await runDue(t);
  const visitor = visit(app, dave);
  const page = await visitor.open('/');
  t.match(needsOf(page), [{ text: /^Four, Three and 2 other tasks failed\. The provider/ }]);
  t.equal(needsOf(page).length, 1);
  const names = 'Four, Three, Two, One';
  const known = await visitor.submit(page, `I know: ${names}`);
  t.match(known, { url: '/', text: /It is listed again when it changes\..*Nothing needs attention/ });
  const again = await visitor.submit(page, `Run again: ${names}`);
  t.match(again, { url: '/tasks', text: /4 tasks started\./ });
});

t.test('A used up quota is one cause, its runs are hollow bars, and the next ones say so', async (t) => {
  clock.set(MORNING);
  await ctx.db.update(settings).set({ maxExecutionsPerDay: 3 });
  for (const hour of ['08', '09']) await insert(`Task of ${hour}`, `0 ${hour} * * *`, `2026-11-24T${hour}:00:00Z`);
  await insert('At night', '0 2 * * *', '2026-11-25T02:00:00Z');
  await insertUsage(ctx, dave.id, { executions: 3 });
  const { document, text } = await visit(app, dave).open('/');
  t.match(needsOf({ document } as ShownPage), [
    {
      text: "Today's 3 runs are used: 2 runs of 2 tasks are skipped. Runs resume tomorrow at 01:00.",
      actions: ['See usage', 'See skipped runs'],
    },
  ]);
  t.match(text, /1 run in the next 24 hours/);
  t.match(text, /2 skipped/);
  t.equal(document.querySelectorAll('.bar.short').length, 2);
  t.equal(document.querySelectorAll('.bar:not(.short)').length, 1 + 1, 'a run, and a day of the month');
  t.match(text, /09:00 ?Task of 08 over quota.*10:00 ?Task of 09 over quota.*03:00 ?At night/);
});

t.test('A user whose trial has ended is told', async (t) => {
  clock.set(MORNING);
  await insert('News', '0 8 * * *', '2026-11-24T08:00:00Z');
  const trialEndsAt = new Date('2026-11-23T00:00:00Z');
  await ctx.db.update(users).set({ trialEndsAt }).where(eq(users.id, dave.id));
  const page = await visit(app, dave).open('/');
  t.match(needsOf(page), [{ text: 'The trial has ended: 1 run of 1 task is skipped in the next 24 hours.' }]);
  t.match(page.text, /0 runs in the next 24 hours.*09:00 ?News trial ended/);
  t.equal(page.document.querySelectorAll('.bar.short').length, 1);
});

t.test('An outage is told once, with what was missed and what ran later', async (t) => {
  clock.set('2026-11-20T10:00:00.000Z');
  ai.answer(() => ({ text: 'Done.' }));
  await insert('Each minute', '1-6 10 * * *', '2026-11-20T10:01:00Z');
  await insert('At two', '2 10 * * *', '2026-11-20T10:02:00Z');
  clock.set('2026-11-20T10:06:30.000Z');
  await runDue(t);
  const { text, document } = await visit(app, dave).open('/');
  t.match(
    text,
    /Carillon was away from today at 11:01 to 11:06: 5 runs were missed and 2 runs started late\. See missed runs/,
  );
  t.match(text, /^HomeFriday.*Nothing needs attention/);
  t.equal(document.querySelectorAll('.notice p').length, 1);
});
