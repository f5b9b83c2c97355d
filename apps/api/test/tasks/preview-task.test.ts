import { tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { captureEvents } from '../support/deliveries.ts';
import { signUp } from '../support/people.ts';
import { postTask, readTask } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));
const alice = await signUp(app);
const SCHEDULE = { scheduledFor: '2026-11-20T11:00:00.000Z', recurrence: 'daily', timezone: 'UTC' };
const preview = (given: object = {}) =>
  app.inject({ method: 'POST', url: '/api/tasks/preview', headers: alice.headers, payload: { ...SCHEDULE, ...given } });
const seen = async (given: object = {}) => {
  const answer = await preview(given);
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return answer
    .json()
    .occurrences.map(({ local, note }: { local: string; note?: string }) => (note ? [local, note] : [local]));
};

t.test('The preview shows the next runs as instants and wall-clock times, and stores nothing', async (t) => {
  const receivedEvents = await captureEvents(ctx, alice);
  const answer = await preview({ scheduledFor: '2026-11-20T16:45:00.5+05:45', timezone: 'asia/Kathmandu', count: 2 });
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), {
    success: true,
    occurrences: [
      { at: '2026-11-20T11:00:00.500Z', local: '2026-11-20T16:45:00.5+05:45[asia/Kathmandu]' },
      { at: '2026-11-21T11:00:00.500Z', local: '2026-11-21T16:45:00.5+05:45[asia/Kathmandu]' },
    ],
  });
  t.equal(await ctx.db.$count(tasks, eq(tasks.userId, alice.id)), 0);
  t.same(await receivedEvents(), []);
});

t.test('The preview shows 10 runs by default, and 1 to 50 on request', async (t) => {
  t.equal((await seen()).length, 10);
  for (const count of [1, 50]) t.equal((await seen({ count })).length, count);
  t.equal((await seen({ recurrence: 'once', count: 50 })).length, 1);
  for (const [count, message] of [
    [0, 'must be at least 1'],
    [51, 'must be at most 50'],
    [1.5, 'must be an integer'],
    ['5', 'must be an integer'],
    [null, 'must be an integer'],
  ]) {
    const answer = await preview({ count });
    t.equal(answer.statusCode, 400);
    t.same(answer.json().details, { count: [message] });
  }
});

t.test('A note says which rule moved a run', async (t) => {
  t.same(
    await seen({
      scheduledFor: '2026-11-28T01:30:00Z',
      recurrencePattern: '30 2 28,29 3 *',
      timezone: 'Europe/Berlin',
      count: 3,
    }),
    [
      [
        '2026-11-28T02:30:00+01:00[Europe/Berlin]',
        'This is the first run. The pattern itself does not fire at this time.',
      ],
      [
        '2027-03-28T03:30:00+02:00[Europe/Berlin]',
        'The clocks go forward past 02:30 on 2027-03-28, so this runs at 03:30.',
      ],
      ['2027-03-29T02:30:00+02:00[Europe/Berlin]'],
    ],
  );
  t.same(await seen({ scheduledFor: '2027-10-30T00:30:00Z', timezone: 'Europe/Berlin', count: 3 }), [
    ['2027-10-30T02:30:00+02:00[Europe/Berlin]'],
    [
      '2027-10-31T02:30:00+02:00[Europe/Berlin]',
      'The clocks go back, and 02:30 on 2027-10-31 comes twice; it runs once, at the first.',
    ],
    ['2027-11-01T02:30:00+01:00[Europe/Berlin]'],
  ]);
  t.same(await seen({ scheduledFor: '2027-01-31T09:00:00Z', recurrence: 'monthly', count: 3 }), [
    ['2027-01-31T09:00:00+00:00[UTC]'],
    ['2027-02-28T09:00:00+00:00[UTC]', '2027-02 has no day 31, so this runs on its last day.'],
    ['2027-03-31T09:00:00+00:00[UTC]'],
  ]);
});

t.test('A schedule that has started is shown from now on, and one that has ended is rejected', async (t) => {
  clock.set('2026-11-23T11:00:00Z');
  t.same((await seen({ count: 2 })).flat(), ['2026-11-24T11:00:00+00:00[UTC]', '2026-11-25T11:00:00+00:00[UTC]']);
  t.same((await seen({ recurrencePattern: '0 0 * * *', count: 1 })).flat(), ['2026-11-24T00:00:00+00:00[UTC]']);
  for (const scheduledFor of [SCHEDULE.scheduledFor, '2026-11-23T11:00:00.000Z']) {
    const answer = await preview({ recurrence: 'once', scheduledFor });
    t.equal(answer.statusCode, 400);
    t.same(answer.json().details, { scheduledFor: ['must be in the future'] });
  }
});

t.test('The list ends with the calendar', async (t) => {
  const last = await preview({ scheduledFor: '9999-12-30T23:59:59.999Z', timezone: 'Pacific/Kiritimati', count: 50 });
  t.same(
    last.json().occurrences.map(({ at }: { at: string }) => at),
    ['9999-12-30T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  );
});

t.test('The task runs as the preview shows', async (t) => {
  for (const given of [
    { recurrence: 'weekly', timezone: 'America/Sao_Paulo' },
    { recurrencePattern: '*/7 3-5 * * MON-FRI', timezone: 'Australia/Lord_Howe' },
  ]) {
    const id = await postTask(app, alice, given);
    const [first, second] = (await preview({ ...given, count: 2 })).json().occurrences;
    t.equal((await readTask(app, alice, id)).nextExecutionAt, first.at);
    clock.set(first.at);
    const resumed = (status: string) =>
      app.inject({ method: 'PATCH', url: `/api/tasks/${id}`, headers: alice.headers, payload: { status } });
    await resumed('paused');
    t.equal((await resumed('active')).json().task.nextExecutionAt, second.at);
    clock.set(START);
  }
});

t.test('Invalid input is rejected by field', async (t) => {
  for (const [given, fields] of [
    [{ scheduledFor: undefined }, ['scheduledFor']],
    [{ recurrence: undefined, timezone: undefined }, ['recurrence', 'timezone']],
    [{ timezone: 'BST' }, ['timezone']],
    [{ timezone: 'SystemV/PST8' }, ['timezone']],
    [{ scheduledFor: '2026-11-20T11:00:00' }, ['scheduledFor']],
    [{ recurrencePattern: '0 0 30 2 *' }, ['recurrencePattern']],
    [{ recurrencePattern: 'a\0' }, ['recurrencePattern']],
    [{ recurrence: 'yearly' }, ['recurrence']],
    [{ name: 'A task' }, ['name']],
  ] as const) {
    const answer = await preview(given);
    t.equal(answer.statusCode, 400, JSON.stringify(given));
    t.match(answer.json(), { success: false, error: 'Validation error' });
    t.same(Object.keys(answer.json().details).sort(), fields);
  }
});

t.test('The preview needs a session', async (t) => {
  await assertNeedsSession(t, app, { method: 'POST', url: '/api/tasks/preview', payload: SCHEDULE });
});
