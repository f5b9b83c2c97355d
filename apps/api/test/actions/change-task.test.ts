import { executions, tasks } from '@carillon/db';
import t from 'tap';
import { getData, notFoundError, TASK, testActions, validationError } from '../support/actions.ts';
import { START, testContext } from '../support/context.ts';
import { signUpAlice, signUpBob } from '../support/people.ts';
import { postTask, readTask } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
const actions = testActions(ctx);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
let id: string;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(tasks);
  id = (await getData(actions.createTask(alice.token, TASK))).id;
});
const update = (given: object, { token } = alice) => actions.updateTask(token, { id, ...given });

const SHOWN = {
  name: TASK.name,
  description: null,
  prompt: TASK.prompt,
  model: TASK.model,
  recurrence: TASK.recurrence,
  active: true,
  status: 'active',
  webhookUrl: null,
  notificationEmail: null,
  nextExecutionAt: '2026-11-21T09:00:00.000Z',
  createdAt: START.toISOString(),
  updatedAt: START.toISOString(),
};

t.test('updateTask changes the given fields and returns the task', async (t) => {
  clock.advance(1000);
  const given = {
    name: 'Evening news',
    description: 'Before bed',
    prompt: 'Tell me what happened today.',
    model: 'large-model',
    webhookUrl: 'https://hooks.example.com/y',
    notificationEmail: 'alice@example.com',
  };
  const updatedAt = '2026-11-20T10:00:01.000Z';
  t.same(await update(given), { success: true, data: { ...SHOWN, id, ...given, updatedAt } });
  const cleared = { description: null, webhookUrl: null, notificationEmail: null };
  t.match(await update(cleared), { data: { ...cleared, name: 'Evening news' } });
});

t.test('A change that changes nothing is accepted and not dated', async (t) => {
  clock.advance(1000);
  const whole = { ...TASK, active: true };
  for (const given of [{}, whole]) t.same(await update(given), { success: true, data: { ...SHOWN, id } });
});

t.test('Another expression replaces the schedule, with a first run in the future too', async (t) => {
  t.match(await update({ recurrence: '0 18 * * 1' }), {
    data: { recurrence: '0 18 * * 1', nextExecutionAt: '2026-11-23T18:00:00.000Z' },
  });
  t.match(await readTask(app, alice, Number(id)), {
    recurrence: 'weekly',
    recurrencePattern: '0 18 * * 1',
    scheduledFor: '2026-11-23T18:00:00.000Z',
    nextExecutionAt: '2026-11-23T18:00:00.000Z',
  });
});

t.test('The expression is in the task’s own time zone', async (t) => {
  const zoned = await postTask(app, alice, { timezone: 'Asia/Tokyo' });
  const answer = await actions.updateTask(alice.token, { id: String(zoned), recurrence: '0 9 * * *' });
  t.match(answer, { data: { nextExecutionAt: '2026-11-21T00:00:00.000Z' } });
  t.match(await readTask(app, alice, zoned), { timezone: 'Asia/Tokyo' });
});

t.test('A task of REST without an expression shows its recurrence, which can be sent back', async (t) => {
  const plain = await postTask(app, alice, { recurrence: 'weekly' });
  const before = await readTask(app, alice, plain);
  const shown = await getData(actions.updateTask(alice.token, { id: String(plain), name: 'Weekly news' }));
  t.equal(shown.recurrence, 'weekly');
  const again = await actions.updateTask(alice.token, {
    id: String(plain),
    recurrence: shown.recurrence,
    name: 'News',
  });
  t.match(again, { data: { recurrence: 'weekly', name: 'News' } });
  t.same({ ...(await readTask(app, alice, plain)), name: '' }, { ...before, name: '' });
});

t.test('`active` pauses and resumes, by both actions', async (t) => {
  const toggle = (active: boolean) => actions.toggleTaskActive(alice.token, id, active);
  for (const set of [toggle, (active: boolean) => update({ active })]) {
    t.match(await set(false), { data: { id, active: false, status: 'paused', nextExecutionAt: null } });
    t.match(await set(false), { data: { active: false } });
    clock.set('2026-11-23T10:00:00Z');
    t.match(await set(true), { data: { active: true, status: 'active', nextExecutionAt: '2026-11-24T09:00:00.000Z' } });
    t.match(await set(true), { data: { active: true } });
    clock.set(START);
  }
});

t.test('Errors name the field of the action', async (t) => {
  t.same(
    await update({ name: 'ab', limit: 1 }),
    validationError({ limit: ['is not a known field'], name: ['must be at least 3 characters'] }),
  );
  t.same(await actions.updateTask(alice.token, { name: 'No id' } as never), validationError({ id: ['is required'] }));
  t.match(await update({ recurrence: 'never' }), { details: { recurrence: [/five fields/] } });
  t.match(await update({ webhookUrl: 'http://169.254.0.1/' }), { details: { webhookUrl: [/./] } });
  t.match(await update({ description: 'x'.repeat(501) }), { details: { description: [/500/] } });
  for (const field of ['name', 'prompt', 'model', 'recurrence', 'active']) {
    t.match(await update({ [field]: null }), { details: { [field]: [/must be/] } }, `${field} is not cleared`);
  }
});

t.test('A `once` task that has passed is not resumed: its recurrence has to be changed', async (t) => {
  const once = String(await postTask(app, alice, { recurrence: 'once' }));
  await getData(actions.toggleTaskActive(alice.token, once, false));
  clock.set('2026-11-21T00:00:00Z');
  const passed = validationError({ recurrence: ['has passed: give a new one in the future'] });
  t.same(await actions.toggleTaskActive(alice.token, once, true), passed);
  t.same(await actions.updateTask(alice.token, { id: once, active: true }), passed);
  const answer = await actions.updateTask(alice.token, { id: once, active: true, recurrence: '0 9 * * *' });
  t.match(answer, { data: { status: 'active', nextExecutionAt: '2026-11-21T09:00:00.000Z' } });
});

t.test('An ended task shows its status, and is not paused', async (t) => {
  await ctx.db.update(tasks).set({ status: 'completed', nextExecutionAt: null });
  t.match(await update({}), { data: { status: 'completed', active: false } });
  t.same(await update({ active: false }), validationError({ active: ['only an active task can be paused'] }));
  t.same(
    await actions.toggleTaskActive(alice.token, id, false),
    validationError({ active: ['only an active task can be paused'] }),
  );
  await ctx.db.update(tasks).set({ status: 'failed' });
  t.match(await update({}), { data: { status: 'failed', active: false } });
});

t.test('Resuming a task counts as an active task', async (t) => {
  await getData(actions.toggleTaskActive(alice.token, id, false));
  for (let n = 0; n < 10; n++) await getData(actions.createTask(alice.token, TASK));
  const full = { success: false, code: 'QUOTA_EXCEEDED', error: /^The quota of 10 active tasks/ };
  t.match(await actions.toggleTaskActive(alice.token, id, true), full);
  t.match(await update({ active: true }), full);
  t.match(
    await actions.duplicateTask(alice.token, id, {}),
    { data: { status: 'paused' } },
    'a paused copy does not count',
  );
});

t.test('A copy has everything that the owner has set, and the given name', async (t) => {
  await update({
    description: 'Before bed',
    webhookUrl: 'https://hooks.example.com/y',
    notificationEmail: 'alice@example.com',
  });
  clock.advance(1000);
  const original = await getData(update({}));
  const at = ctx.now().toISOString();
  const copy = await getData(actions.duplicateTask(alice.token, id, { name: 'Another' }));
  t.not(copy.id, id);
  t.same(copy, { ...original, id: copy.id, name: 'Another', createdAt: at, updatedAt: at });
  for (const given of [[], [{}]] as [{ name?: string }?][]) {
    t.equal((await getData(actions.duplicateTask(alice.token, id, ...given))).name, `${TASK.name} (copy)`);
  }
  t.same(
    await actions.duplicateTask(alice.token, id, { name: 'ab' }),
    validationError({ name: ['must be at least 3 characters'] }),
  );
  t.same(
    await actions.duplicateTask(alice.token, id, null as never),
    validationError({ input: ['must be an object'] }),
  );
});

t.test('A deleted task is deleted with its executions', async (t) => {
  await getData(actions.executeTask(alice.token, id));
  t.equal(await ctx.db.$count(executions), 1);
  t.same(await actions.deleteTask(alice.token, id), { success: true, data: null });
  t.equal(await ctx.db.$count(tasks), 0);
  t.equal(await ctx.db.$count(executions), 0);
  t.same(await actions.deleteTask(alice.token, id), notFoundError('task'));
});

t.test('A stranger’s task is not found by any action', async (t) => {
  const missing = notFoundError('task');
  t.same(await update({ name: 'Mine now' }, bob), missing);
  t.same(await update({ recurrence: '0 8 * * *' }, bob), missing);
  t.same(await actions.toggleTaskActive(bob.token, id, false), missing);
  t.same(await actions.duplicateTask(bob.token, id, {}), missing);
  t.same(await actions.executeTask(bob.token, id), missing);
  t.same(await actions.deleteTask(bob.token, id), missing);
  t.same(await update({}), { success: true, data: { ...SHOWN, id } });
  t.same(await actions.updateTask(alice.token, { id: '2147483647' }), missing);
});
