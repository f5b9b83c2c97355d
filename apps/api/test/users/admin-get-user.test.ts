import { executions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsAdmin } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUpAda, signUpAlice, signUpBob } from '../support/people.ts';
import { insertTask } from '../support/task-rows.ts';
import { createFixedAi, INVALID_IDS, postTask, REFUSED_OUTCOME, runDue, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
let ada: Person;
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  ada = await signUpAda(app);
  alice = await signUpAlice(app);
});

const get = (id: number | string) => app.inject({ url: `/api/admin/users/${id}`, headers: ada.headers });

t.test('An account has its counts and its activity, and no secret', async (t) => {
  const id = await postTask(app, alice, { aiModel: 'offline' });
  const other = await insertTask(ctx, alice.id, { status: 'paused', nextExecutionAt: null });
  clock.set(TASK.scheduledFor);
  await runDue(ctx);
  clock.advance(24 * 3_600_000);
  await runDue({ ...ctx, ai: createFixedAi(REFUSED_OUTCOME) });
  const [done, failed] = await ctx.db.select().from(executions).orderBy(executions.id);

  await ctx.db.update(users).set({ providerKeyEncrypted: 'sealed' }).where(eq(users.id, alice.id));

  const answer = await get(alice.id);
  t.equal(answer.statusCode, 200);
  const { success, user } = answer.json();
  t.equal(success, true);
  t.match(user.identityUserId, /^local:/);
  t.same(user, {
    id: alice.id,
    identityUserId: user.identityUserId,
    email: 'alice@example.com',
    name: 'Alice',
    role: 'USER',
    isActive: true,
    timezone: null,
    trialEndsAt: '2026-12-04T10:00:00.000Z',
    createdAt: START.toISOString(),
    updatedAt: START.toISOString(),
    stats: { totalTasks: 2, activeTasks: 1, totalExecutions: 2, successRate: 50, failedExecutions: 1 },
    recentActivity: [
      {
        type: 'execution.failed',
        timestamp: '2026-11-21T11:00:00.000Z',
        details: {
          executionId: failed?.id,
          taskId: id,
          taskName: TASK.name,
          trigger: 'schedule',
          errorCode: 'INVALID_REQUEST',
        },
      },
      {
        type: 'execution.completed',
        timestamp: TASK.scheduledFor,
        details: { executionId: done?.id, taskId: id, taskName: TASK.name, trigger: 'schedule', errorCode: null },
      },
      {
        type: 'user.signed_in',
        timestamp: START.toISOString(),
        details: { actorId: alice.id, address: '127.0.0.1' },
      },
      { type: 'task.created', timestamp: START.toISOString(), details: { taskId: other, name: 'Task 0' } },
      { type: 'task.created', timestamp: START.toISOString(), details: { taskId: id, name: TASK.name } },
    ],
  });
});

t.test('The activity has the latest 20 entries, and none of another account', async (t) => {
  const bob = await signUpBob(app);
  for (let n = 0; n < 25; n++) {
    clock.advance(1000);
    await insertTask(ctx, alice.id, { name: `Task ${n}`, nextExecutionAt: null });
    await insertTask(ctx, bob.id, { name: 'Not hers', nextExecutionAt: null });
  }
  const { recentActivity } = (await get(alice.id)).json().user;
  t.same(
    recentActivity.map(({ details }: { details: { name: string } }) => details.name),
    Array.from({ length: 20 }, (_, at) => `Task ${24 - at}`),
  );
});

t.test('An account without executions has a success rate of 0', async (t) => {
  t.same((await get(alice.id)).json().user.stats, {
    totalTasks: 0,
    activeTasks: 0,
    totalExecutions: 0,
    successRate: 0,
    failedExecutions: 0,
  });
});

t.test('An unknown account is not found', async (t) => {
  for (const id of [...INVALID_IDS, '2147483647']) {
    const answer = await get(id);
    t.equal(answer.statusCode, 404, id);
    t.match(answer.json(), { success: false, error: String });
  }
});

t.test('Reading an account needs an admin with the key', async (t) => {
  await assertNeedsAdmin(t, app, { url: `/api/admin/users/${alice.id}` }, { ada, alice });
});
