import { endpoints, tasks, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { getData, TASK, testActions, validationError } from '../support/actions.ts';
import { START, testContext } from '../support/context.ts';
import { signUp, signUpAlice, signUpBob } from '../support/people.ts';
import { readTask } from '../support/tasks.ts';

const test = await testContext(t);
const { app, ctx, clock } = test;
const actions = testActions(ctx);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(tasks);
});
const create = (given: object = {}, { token } = alice) => actions.createTask(token, { ...TASK, ...given });

t.test('A task repeats by its cron expression, and first runs when it fires next', async (t) => {
  const data = await getData(create());
  t.same(data, { id: data.id, name: TASK.name, createdAt: START.toISOString() });
  t.match(await readTask(app, alice, Number(data.id)), {
    name: TASK.name,
    prompt: TASK.prompt,
    description: null,
    scheduledFor: '2026-11-21T09:00:00.000Z',
    nextExecutionAt: '2026-11-21T09:00:00.000Z',
    recurrence: 'daily',
    recurrencePattern: '0 9 * * *',
    timezone: 'UTC',
    aiModel: TASK.model,
    maxTokens: 1024,
    temperature: 70,
    status: 'active',
    webhookUrl: null,
    notificationEmail: null,
    createdAt: START.toISOString(),
  });
});

t.test('The recurrence is the word nearest to the expression', async (t) => {
  for (const [recurrence, word] of [
    ['0 9 * * 1', 'weekly'],
    ['0 9 1 * *', 'monthly'],
    ['*/5 * * * *', 'daily'],
  ]) {
    const { id } = await getData(create({ recurrence }));
    t.match(await readTask(app, alice, Number(id)), { recurrence: word, recurrencePattern: recurrence });
  }
});

t.test('The expression is in the time zone of the caller’s profile', async (t) => {
  const carol = await signUp(app, { name: 'Carol', timezone: 'America/New_York' });
  const { id } = await getData(create({ recurrence: '30 6 * * *' }, carol));
  const { timezone, nextExecutionAt } = await readTask(app, carol, Number(id));
  t.same({ timezone, nextExecutionAt }, { timezone: 'America/New_York', nextExecutionAt: '2026-11-20T11:30:00.000Z' });
});

t.test('A first run that is a moment ahead is accepted, although the clock advances', async (t) => {
  const runs = new Set<string>();
  // The full hour passes between any two readings of the clock.
  for (let before = 0; before < 8; before++) {
    let looks = 0;
    const now = () => new Date(looks++ < before ? '2026-11-20T10:59:59.999Z' : '2026-11-20T11:00:00.001Z');
    const { createTask } = testActions({ ...ctx, now });
    const { id } = await getData(createTask(alice.token, { ...TASK, recurrence: '0 11 * * *' }));
    runs.add((await readTask(app, alice, Number(id))).nextExecutionAt);
  }
  t.same([...runs], ['2026-11-21T11:00:00.000Z', '2026-11-20T11:00:00.000Z']);
  clock.set('2026-11-20T11:00:00.000Z');
  const next = (await getData(create({ recurrence: '0 11 * * *' }))).id;
  t.match(
    await readTask(app, alice, Number(next)),
    { nextExecutionAt: '2026-11-21T11:00:00.000Z' },
    'strictly after now',
  );
});

t.test('A task can be created paused, with a description and targets of notifications', async (t) => {
  const given = {
    description: 'For breakfast',
    webhookUrl: 'https://hooks.example.com/x',
    notificationEmail: 'a@b.example',
  };
  const { id } = await getData(create({ ...given, active: false }));
  t.match(await readTask(app, alice, Number(id)), { ...given, status: 'paused', nextExecutionAt: null });
  t.match(
    await ctx.db
      .select()
      .from(endpoints)
      .where(eq(endpoints.taskId, Number(id))),
    [{ url: given.webhookUrl }],
  );
  const { id: other } = await getData(
    create({ description: null, webhookUrl: null, notificationEmail: null, active: true }),
  );
  t.match(await readTask(app, alice, Number(other)), { description: null, status: 'active' });
});

t.test('Invalid input is rejected by the field of the action', async (t) => {
  const rejected = async (given: object, details: Record<string, unknown>) => {
    const answer = await create(given);
    t.match(answer, { success: false, error: 'Validation error', details }, JSON.stringify(details));
    t.same(Object.keys((answer as { details?: object }).details ?? {}), Object.keys(details));
  };
  t.same(await actions.createTask(alice.token, {} as never), {
    ...validationError({}),
    details: Object.fromEntries(['name', 'prompt', 'model', 'recurrence'].map((field) => [field, ['is required']])),
  });
  await rejected({ name: 'ab' }, { name: ['must be at least 3 characters'] });
  await rejected({ name: 'x'.repeat(101) }, { name: ['must be at most 100 characters'] });
  await rejected({ prompt: 'too short' }, { prompt: ['must be at least 10 characters'] });
  await rejected({ description: 'x'.repeat(501) }, { description: ['must be at most 500 characters'] });
  await rejected({ model: '' }, { model: [/./] });
  await rejected({ webhookUrl: 'nowhere' }, { webhookUrl: [/./] });
  await rejected({ webhookUrl: 'http://169.254.169.254/latest' }, { webhookUrl: [/./] });
  await rejected({ notificationEmail: 'nobody' }, { notificationEmail: ['must be an e-mail address'] });
  await rejected({ active: 'yes' }, { active: ['must be a boolean'] });
  for (const recurrence of [
    '',
    'daily',
    '@daily',
    '0 9 * *',
    '0 0 9 * * *',
    '61 * * * *',
    '0 0 30 2 *',
    'x'.repeat(257),
  ]) {
    await rejected({ recurrence }, { recurrence: [/./] });
  }
  t.equal(await ctx.db.$count(tasks), 0);
});

t.test('Texts at their limits are accepted, in code points', async (t) => {
  for (const given of [
    { name: '🎵🎵🎵' },
    { name: '🎵'.repeat(100) },
    { description: '🎵'.repeat(500) },
    { prompt: '0123456789' },
  ]) {
    t.equal((await create(given)).success, true);
  }
});

t.test('Over the quota of active tasks a task is rejected, and can be created paused', async (t) => {
  for (let n = 0; n < 10; n++) await getData(create());
  t.same(await create(), {
    success: false,
    error: 'The quota of 10 active tasks is used up: pause or delete one first.',
    code: 'QUOTA_EXCEEDED',
  });
  t.equal((await create({ active: false })).success, true);
  t.equal((await create({}, bob)).success, true, 'other users are not affected');
});

t.test('A task of an action reads like one of REST, over both', async (t) => {
  const byAction = Number((await getData(create({ description: 'The same' }))).id);
  const payload = {
    ...{ name: TASK.name, description: 'The same', prompt: TASK.prompt, aiModel: TASK.model, timezone: 'UTC' },
    ...{ scheduledFor: '2026-11-21T09:00:00Z', recurrence: 'daily', recurrencePattern: TASK.recurrence },
  };
  const posted = await app.inject({ method: 'POST', url: '/api/agent/create-task', headers: alice.headers, payload });
  const byRest = posted.json().taskId;
  const [one, other] = [await readTask(app, alice, byAction), await readTask(app, alice, byRest)];
  t.same({ ...one, id: 0, externalId: '' }, { ...other, id: 0, externalId: '' });
  const shown = (id: number) => getData(actions.updateTask(alice.token, { id: String(id) }));
  t.same({ ...(await shown(byAction)), id: '' }, { ...(await shown(byRest)), id: '' });
});

t.test('An account that is deleted meanwhile is unauthenticated', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  const deleted = testActions({
    ...ctx,
    db: new Proxy(ctx.db, {
      get(db, name, receiver) {
        if (name !== 'transaction') return Reflect.get(db, name, receiver);
        return async (...given: Parameters<typeof db.transaction>) => {
          await db.delete(users).where(eq(users.id, carol.id));
          return db.transaction(...given);
        };
      },
    }),
  });
  t.match(await deleted.createTask(carol.token, TASK), { success: false, code: 'AUTH_REQUIRED' });
});

t.test('All faults are reported at once, those of the schema and those that depend on the caller', async (t) => {
  const faults = { name: 'x', recurrence: '0 0 30 2 *', webhookUrl: 'http://169.254.169.254/' };
  const created = await actions.createTask(alice.token, { ...TASK, ...faults });
  t.match(created, { details: { name: [/3 characters/], recurrence: [/never fires/], webhookUrl: [/./] } });
  const { id } = await getData(actions.createTask(alice.token, TASK));
  const changed = await actions.updateTask(alice.token, { id, ...faults });
  t.match(changed, { details: { name: [/3 characters/], recurrence: [/never fires/], webhookUrl: [/./] } });
});
