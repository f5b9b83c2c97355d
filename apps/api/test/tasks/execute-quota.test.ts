import { executions, settings, usageCounters, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp, signUpAda } from '../support/people.ts';
import { postTask } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

const execute = ({ headers }: Person, id: number) =>
  app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers });

/** Sets the counters of today, without ledger entries. */
async function use({ id: userId }: Person, used: { executions?: number; tokens?: number }, period = '2026-11-20') {
  const values = { userId, period, ...used };
  await ctx.db
    .insert(usageCounters)
    .values(values)
    .onConflictDoUpdate({
      target: [usageCounters.userId, usageCounters.period],
      set: used,
    });
}

t.test('An exceeded quota is 402 and says when it resets', async (t) => {
  const cases = [
    [
      { executions: 50 },
      '2026-11-20',
      { resource: 'executions', used: 50, limit: 50, resetAt: '2026-11-21T00:00:00.000Z' },
    ],
    [
      { executions: 500 },
      '2026-11',
      { resource: 'executions', used: 500, limit: 500, resetAt: '2026-12-01T00:00:00.000Z' },
    ],
    [
      { tokens: 100_000 },
      '2026-11-20',
      { resource: 'tokens', used: 100_000, limit: 100_000, resetAt: '2026-11-21T00:00:00.000Z' },
    ],
    [
      { tokens: 1_000_001 },
      '2026-11',
      { resource: 'tokens', used: 1_000_001, limit: 1_000_000, resetAt: '2026-12-01T00:00:00.000Z' },
    ],
  ] as const;
  for (const [used, period, details] of cases) {
    const alice = await signUp(app);
    const id = await postTask(app, alice);
    await use(alice, used, period);
    const answer = await execute(alice, id);
    t.equal(answer.statusCode, 402);
    const { message, ...body } = answer.json();
    t.same(body, { success: false, error: 'Quota exceeded', details });
    t.ok(message.includes(String(details.limit)));
    t.equal(await ctx.db.$count(executions, eq(executions.userId, alice.id)), 0);
  }
});

t.test('One of many concurrent runs gets the last execution of the day', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  await use(alice, { executions: 49 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => execute(alice, id)));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, ...Array(19).fill(402)]);
  t.equal(await ctx.db.$count(executions, eq(executions.userId, alice.id)), 1);
  clock.set('2026-11-21T00:00:00Z');
  t.equal((await execute(alice, id)).statusCode, 201, 'the quota of the next day');
});

t.test('Admins and the pro plan have more executions, and the system setting can lower that', async (t) => {
  const [alice, ada] = [await signUp(app), await signUpAda(app)];
  await ctx.db.update(users).set({ plan: 'pro' }).where(eq(users.id, alice.id));
  for (const person of [alice, ada]) {
    const id = await postTask(app, person);
    await use(person, { executions: 499 });
    t.equal((await execute(person, id)).statusCode, 201);
    t.match((await execute(person, id)).json().details, { used: 500, limit: 500 });
  }
  t.teardown(() => ctx.db.update(settings).set({ maxExecutionsPerDay: 500 }));
  await ctx.db.update(settings).set({ maxExecutionsPerDay: 3 });
  const bob = await signUp(app, { name: 'Bob' });
  const id = await postTask(app, bob);
  for (const status of [201, 201, 201, 402]) t.equal((await execute(bob, id)).statusCode, status);
});

t.test('After the trial nothing runs, except for admins', async (t) => {
  const [alice, ada] = [await signUp(app), await signUp(app, { name: 'Eve', role: 'ADMIN' })];
  const [id, hers] = [await postTask(app, alice), await postTask(app, ada)];
  await ctx.db.update(users).set({ trialEndsAt: new Date('2026-11-20T11:00:00Z') });
  clock.set('2026-11-20T10:59:59.999Z');
  t.equal((await execute(alice, id)).statusCode, 201);
  clock.set('2026-11-20T11:00:00Z');
  const answer = await execute(alice, id);
  t.equal(answer.statusCode, 402);
  t.match(answer.json().details, { resource: 'trial', used: null, limit: null, resetAt: null });
  t.equal((await execute(ada, hers)).statusCode, 201);
});
