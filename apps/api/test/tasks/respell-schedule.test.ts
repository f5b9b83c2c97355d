import { tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { signUp } from '../support/people.ts';
import { readLedger } from '../support/task-rows.ts';
import { patchTask, postTask, readTask } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

const FIRST = '2026-11-21T07:00:00.000Z';
const SPELLINGS = [
  { timezone: 'europe/kyiv' },
  { timezone: 'Europe/Kiev', recurrencePattern: '00  9 * * 1-5' },
  { recurrencePattern: ' 0 09 ? * mon-fri ' },
  { recurrencePattern: '0 9 * * 1,2,3,4,5', recurrence: 'weekly' },
  { timezone: 'Europe/Kyiv', scheduledFor: '2026-11-21T09:00:00+02:00' },
];

async function postWeekdays(alice: Awaited<ReturnType<typeof signUp>>) {
  return postTask(app, alice, { scheduledFor: FIRST, timezone: 'Europe/Kyiv', recurrencePattern: '0 9 * * MON-FRI' });
}

t.test('Another spelling of the zone or the pattern is stored, and keeps the skip and the next run', async (t) => {
  const alice = await signUp(app);
  const id = await postWeekdays(alice);
  await app.inject({ method: 'POST', url: `/api/tasks/${id}/skip-next`, headers: alice.headers });
  await app.inject({ method: 'POST', url: `/api/tasks/${id}/skip-next`, headers: alice.headers });
  const ledger = await readLedger(ctx, id);
  t.equal(ledger.length, 2);
  for (const spelling of SPELLINGS) {
    const { task } = (await patchTask(app, alice, id, spelling)).json();
    t.match(task, { ...spelling, scheduledFor: FIRST, status: 'active', nextExecutionAt: '2026-11-24T07:00:00.000Z' });
    t.same(await readLedger(ctx, id), ledger);
  }
  const { task } = (await patchTask(app, alice, id, { recurrencePattern: '0 9 * * 1-6' })).json();
  t.equal(task.nextExecutionAt, FIRST, 'another pattern plans the skipped run again');
  t.same(await readLedger(ctx, id), []);
});

t.test('A run that is due stays due under another spelling', async (t) => {
  const alice = await signUp(app);
  const id = await postWeekdays(alice);
  clock.set('2026-11-21T07:00:01Z');
  for (const spelling of SPELLINGS) {
    const { task } = (await patchTask(app, alice, id, spelling)).json();
    t.equal(task.nextExecutionAt, FIRST);
  }
  t.same(await readLedger(ctx, id), []);
});

t.test('Another spelling resumes neither a paused task nor one that has failed', async (t) => {
  const alice = await signUp(app);
  for (const status of ['paused', 'failed'] as const) {
    const id = await postWeekdays(alice);
    await patchTask(app, alice, id, { status: 'paused' });
    await ctx.db.update(tasks).set({ status }).where(eq(tasks.id, id));
    for (const spelling of SPELLINGS) await patchTask(app, alice, id, spelling);
    t.match(await readTask(app, alice, id), { status, nextExecutionAt: null });
  }
});
