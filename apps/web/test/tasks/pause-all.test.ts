import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { insertTask, readTaskRow } from '../../../api/test/support/task-rows.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx } = await testContext(t);
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const bob = await signUp(app);
const visitor = visit(app, alice);
const NEXT = new Date('2026-11-20T11:00:00Z');
const UNTIL = '2026-11-27T07:00:00.000Z';
const readPause = async (id: number) => (await readTaskRow(ctx, id)).pausedUntil?.toISOString();

t.test('All active tasks are paused until a time, and those alone are resumed', async (t) => {
  const active = await insertTask(ctx, alice.id, { nextExecutionAt: NEXT });
  const paused = await insertTask(ctx, alice.id, { status: 'paused', nextExecutionAt: null });
  const later = new Date('2026-12-24T07:00:00Z');
  const longer = await insertTask(ctx, alice.id, { nextExecutionAt: later, pausedUntil: later });
  const other = await insertTask(ctx, bob.id, { nextExecutionAt: NEXT });
  const shown = await visitor.submit(await visitor.open('/tasks'), 'Pause all tasks', { until: '2026-11-27T08:00' });
  t.match(shown, { url: '/tasks', text: /1 task is paused until 27 November at 08:00/ });
  t.same(await Promise.all([active, paused, longer, other].map(readPause)), [
    UNTIL,
    undefined,
    later.toISOString(),
    undefined,
  ]);
  t.ok(((await readTaskRow(ctx, active)).nextExecutionAt?.toISOString() ?? '') >= UNTIL);
  t.match(await visitor.submit(shown, 'Resume now'), { url: '/tasks', text: /1 task resumed\./ });
  t.same(await Promise.all([active, longer].map(readPause)), [undefined, later.toISOString()]);
  t.equal((await readTaskRow(ctx, paused)).status, 'paused');
});

t.test('A task that could not run after the pause is left as it is, and said', async (t) => {
  const once = await insertTask(ctx, alice.id, { recurrence: 'once', scheduledFor: NEXT, nextExecutionAt: NEXT });
  const shown = await visitor.submit(await visitor.open('/tasks'), 'Pause all tasks', { until: '2026-11-27T08:00' });
  t.match(shown.text, /1 task paused, 1 refused: must be before the last run/i);
  t.equal(await readPause(once), undefined);
});

t.test('A time that cannot be is refused at its field, with what was typed', async (t) => {
  for (const [until, message] of [
    ['2026-11-20T10:59', /Enter a time in the future/],
    ['', /Enter a date and a time/],
  ] as const) {
    const refused = await visitor.submit(await visitor.open('/tasks'), 'Pause all tasks', { until });
    t.match(refused, { status: 422, heading: 'Tasks' });
    t.match(refused.document.querySelector('#until-error')?.text, message);
  }
});

t.test('An invalid instant is refused', async (t) => {
  const page = await visitor.open('/tasks');
  await visitor.submit(page, 'Pause all tasks', { until: '2026-11-27T08:00' });
  const refused = await visitor.submit(await visitor.open('/tasks'), 'Resume now', { resume: 'soon' });
  t.match(refused, { status: 400 });
});
