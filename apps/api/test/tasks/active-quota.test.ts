import { settings, tasks, users } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { captureEvents } from '../support/deliveries.ts';
import { type Person, signUp, signUpAda } from '../support/people.ts';
import { patchTask, postTask, readTask, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.update(settings).set({ maxTasksPerUser: 100 });
});
const create = ({ headers }: Person) =>
  app.inject({ method: 'POST', url: '/api/agent/create-task', headers, payload: TASK });
const countActive = ({ id }: Person) => ctx.db.$count(tasks, and(eq(tasks.userId, id), eq(tasks.status, 'active')));

/** Inserts active tasks without regard to the quota. */
async function fill({ id: userId }: Person, count: number) {
  const row = { ...TASK, scheduledFor: START, recurrence: 'once', status: 'active', userId } as const;
  const rest = { aiModel: 'offline', maxTokens: 1, temperature: 0, createdAt: START, updatedAt: START };
  await ctx.db.insert(tasks).values(Array(count).fill({ ...row, ...rest }));
}

t.test('The trial allows 10 active tasks', async (t) => {
  const alice = await signUp(app);
  await fill(alice, 9);
  const id = await postTask(app, alice);
  const answer = await create(alice);
  t.equal(answer.statusCode, 402);
  const { message, ...body } = answer.json();
  const details = { resource: 'activeTasks', used: 10, limit: 10, resetAt: null };
  t.same(body, { success: false, error: 'Quota exceeded', details });
  t.match(message, /10/);
  t.equal(await countActive(alice), 10);

  await patchTask(app, alice, id, { status: 'paused' });
  t.equal((await create(alice)).statusCode, 201, 'a paused task does not count');
  const resumed = await patchTask(app, alice, id, { status: 'active', name: 'Resumed' });
  t.equal(resumed.statusCode, 402);
  t.same(resumed.json().details, details);
  t.match(await readTask(app, alice, id), { status: 'paused', name: TASK.name }, 'nothing is changed');
  const rescheduled = { scheduledFor: '2026-11-21T11:00:00.000Z' };
  t.equal((await patchTask(app, alice, id, rescheduled)).statusCode, 200, 'a change that leaves it paused is accepted');
});

t.test('An ended task does not count as active until a new schedule resumes it', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  await ctx.db.update(tasks).set({ status: 'completed', nextExecutionAt: null }).where(eq(tasks.id, id));
  await fill(alice, 10);
  const scheduledFor = '2026-11-21T11:00:00.000Z';
  t.equal((await patchTask(app, alice, id, { scheduledFor })).statusCode, 402);
  t.equal((await patchTask(app, alice, id, { scheduledFor, status: 'paused' })).statusCode, 200);
});

t.test('The pro plan and admins may have 100 active tasks, and the system setting can lower that', async (t) => {
  const [alice, ada, bob] = [await signUp(app), await signUpAda(app), await signUp(app, { name: 'Bob' })];
  await ctx.db.update(users).set({ plan: 'pro' }).where(eq(users.id, alice.id));
  for (const person of [alice, ada]) {
    await fill(person, 99);
    t.equal((await create(person)).statusCode, 201);
    t.match((await create(person)).json().details, { used: 100, limit: 100 });
  }
  await ctx.db.update(settings).set({ maxTasksPerUser: 2 });
  const statuses = [await create(bob), await create(bob), await create(bob)].map(({ statusCode }) => statusCode);
  t.same(statuses, [201, 201, 402]);
  t.match((await create(alice)).json().details, { used: 100, limit: 2 }, 'also for a user who has more already');
});

t.test('One of 40 concurrent creations gets the last active task', async (t) => {
  const alice = await signUp(app);
  await fill(alice, 9);
  const receivedEvents = await captureEvents(ctx, alice);
  const answers = await Promise.all(Array.from({ length: 40 }, () => create(alice)));
  const statuses = answers.map(({ statusCode }) => statusCode);
  t.equal(statuses.filter((status) => status === 201).length, 1);
  t.equal(statuses.filter((status) => status === 402).length, 39);
  t.equal(await countActive(alice), 10);
  t.equal((await receivedEvents()).length, 1);
});

t.test('Concurrent creations and resumptions share the remaining active tasks', async (t) => {
  const alice = await signUp(app);
  const paused: number[] = [];
  for (let n = 0; n < 10; n++) {
    paused.push(await postTask(app, alice));
    await patchTask(app, alice, paused[n] as number, { status: 'paused' });
  }
  await fill(alice, 6);
  const answers = await Promise.all([
    ...paused.map((id) => patchTask(app, alice, id, { status: 'active' })),
    ...Array.from({ length: 10 }, () => create(alice)),
  ]);
  const statuses = answers.map(({ statusCode }) => statusCode);
  t.equal(statuses.filter((status) => status < 300).length, 4);
  t.equal(statuses.filter((status) => status === 402).length, 16);
  t.equal(await countActive(alice), 10);
});
