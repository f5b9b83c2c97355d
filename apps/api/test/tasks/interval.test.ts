import t from 'tap';
import { buildTask } from '../../src/product/agent/proposals/build-task.ts';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { testContext } from '../support/context.ts';
import { buildCaller } from '../support/engine.ts';
import { signUpAlice } from '../support/people.ts';
import { patchTask, postTask, readTask, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUpAlice(app);
const { headers } = alice;
const post = (url: string, payload: object) => app.inject({ method: 'POST', url, headers, payload });

t.test('A task runs every second week, and its preview says so before', async (t) => {
  const schedule = { ...TASK, recurrence: 'weekly', interval: 2 };
  const { name: _name, prompt: _prompt, ...plan } = schedule;
  const preview = await post('/api/tasks/preview', { ...plan, count: 3 });
  t.same(
    preview.json().occurrences.map(({ at }: { at: string }) => at),
    ['2026-11-20T11:00:00.000Z', '2026-12-04T11:00:00.000Z', '2026-12-18T11:00:00.000Z'],
  );
  const id = await postTask(app, alice, schedule);
  clock.set('2026-11-20T11:00:00.000Z');
  await enqueueDue(ctx);
  t.match(await readTask(app, alice, id), { interval: 2, nextExecutionAt: '2026-12-04T11:00:00.000Z' });
  clock.set('2026-11-20T10:00:00.000Z');
});

t.test('Without an interval it is 1', async (t) => {
  t.match(await readTask(app, alice, await postTask(app, alice)), { interval: 1 });
});

t.test('An interval beyond 1 to 99, and one of a pattern or of a single run, is refused', async (t) => {
  for (const interval of [0, 100, 1.5, '2', null]) {
    const { statusCode, body } = await post('/api/agent/create-task', { ...TASK, interval });
    t.match({ statusCode, body }, { statusCode: 400, body: /"interval"/ }, JSON.stringify(interval));
  }
  for (const given of [{ recurrence: 'once' }, { recurrencePattern: '0 9 * * *' }]) {
    const answer = await post('/api/agent/create-task', { ...TASK, ...given, interval: 2 });
    t.match(answer.json(), { error: 'Validation error', details: { interval: [/^must be 1 with /] } });
    t.equal((await post('/api/agent/create-task', { ...TASK, ...given, interval: 1 })).statusCode, 201);
    const { name: _name, prompt: _prompt, ...plan } = { ...TASK, ...given };
    t.equal((await post('/api/tasks/preview', { ...plan, interval: 2 })).statusCode, 400);
  }
});

t.test('A change keeps the interval, and a pattern or a single run ends it', async (t) => {
  const id = await postTask(app, alice, { recurrence: 'daily', interval: 3 });
  t.match((await patchTask(app, alice, id, { timezone: 'Europe/Berlin' })).json(), { task: { interval: 3 } });
  t.equal((await patchTask(app, alice, id, { recurrencePattern: '0 9 * * *', interval: 3 })).statusCode, 400);
  t.match((await patchTask(app, alice, id, { interval: 4 })).json(), { task: { interval: 4 } });
  t.match((await patchTask(app, alice, id, { recurrencePattern: '0 9 * * *' })).json(), { task: { interval: 1 } });
  t.match((await patchTask(app, alice, id, { recurrence: 'weekly', interval: 2 })).json(), {
    task: { interval: 2, recurrencePattern: null },
  });
  t.match((await patchTask(app, alice, id, { recurrence: 'once' })).json(), { task: { interval: 1 } });
});

t.test('A copy and a task that the agent proposes have the interval', async (t) => {
  const id = await postTask(app, alice, { recurrence: 'monthly', interval: 6 });
  t.match((await post(`/api/tasks/${id}/duplicate`, {})).json(), { task: { interval: 6 } });
  const draft = { name: 'Fortnight', prompt: 'Sum up the last two weeks.', recurrence: 'weekly', interval: 2 };
  const sources = { timezone: 'UTC', tools: [], channels: [], canSearch: false };
  const built = await buildTask(ctx, buildCaller(alice.id), { ...draft, scheduledFor: '2026-11-23T09:00' }, sources);
  t.match(built, { recurrence: 'weekly', interval: 2, scheduledFor: '2026-11-23T09:00:00.000Z' });
});
