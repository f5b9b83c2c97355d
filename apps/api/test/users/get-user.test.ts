import { executions, tasks, users } from '@carillon/db';
import t from 'tap';
import { successRate } from '../../src/platform/queries/user-counts.ts';
import { START, testContext } from '../support/context.ts';
import { signUp, signUpAlice, signUpBob } from '../support/people.ts';
import { countEndedRuns } from '../support/task-rows.ts';

const url = '/api/user';
const { app, ctx } = await testContext(t);
t.beforeEach(async () => {
  await ctx.db.delete(users);
});

async function addTask(userId: number, status: 'active' | 'paused' | 'completed' | 'failed') {
  const [task] = await ctx.db
    .insert(tasks)
    .values({
      userId,
      status,
      name: 'Morning news',
      prompt: 'Tell me what happened overnight.',
      scheduledFor: START,
      recurrence: 'daily',
      timezone: 'UTC',
      aiModel: 'offline',
      maxTokens: 1024,
      temperature: 70,
      createdAt: START,
      updatedAt: START,
    })
    .returning({ id: tasks.id });
  return task!.id;
}

async function addExecutions(userId: number, taskId: number, counts: Record<string, number>) {
  const common = { userId, taskId, trigger: 'manual' as const, runAt: START, createdAt: START };
  const states = {
    pending: { status: 'pending', queuedAt: START },
    running: { status: 'running', claimToken: crypto.randomUUID(), leaseUntil: START },
    completed: { status: 'completed', completedAt: START },
    failed: { status: 'failed', completedAt: START, errorCode: 'TIMEOUT' },
  } as const;
  for (const [state, count] of Object.entries(counts)) {
    const row = { ...common, ...states[state as keyof typeof states] };
    if (count > 0) await ctx.db.insert(executions).values(Array.from({ length: count }, () => row));
  }
  await countEndedRuns(ctx);
}

t.test('The profile has every field of the contract and no other', async (t) => {
  const alice = await signUp(app, { name: 'Alice', email: 'alice@example.com', timezone: 'Asia/Kolkata' });
  const answer = await app.inject({ url, headers: alice.headers });
  t.equal(answer.statusCode, 200);
  const { success, user } = answer.json();
  t.equal(success, true);
  t.match(user.identityUserId, /^local:[0-9a-f-]{36}$/);
  t.same(user, {
    id: alice.id,
    identityUserId: user.identityUserId,
    email: 'alice@example.com',
    name: 'Alice',
    role: 'USER',
    timezone: 'Asia/Kolkata',
    isActive: true,
    trialEndsAt: '2026-12-04T10:00:00.000Z',
    createdAt: START.toISOString(),
    stats: { totalTasks: 0, activeTasks: 0, totalExecutions: 0, successRate: 0 },
  });
});

t.test('The counts are of the caller’s own tasks and executions', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const first = await addTask(alice.id, 'active');
  for (const status of ['active', 'paused', 'completed', 'failed'] as const) await addTask(alice.id, status);
  await addExecutions(alice.id, first, { completed: 2, failed: 1, pending: 1 });
  const bobs = await addTask(bob.id, 'active');
  await addExecutions(bob.id, bobs, { completed: 5, running: 1 });
  const statsOf = async ({ headers }: typeof alice) => (await app.inject({ url, headers })).json().user.stats;
  t.same(await statsOf(alice), { totalTasks: 5, activeTasks: 2, totalExecutions: 4, successRate: 66.67 });
  t.same(await statsOf(bob), { totalTasks: 1, activeTasks: 1, totalExecutions: 6, successRate: 100 });
});

t.test('The success rate is a percentage with two decimals of the ended executions', async (t) => {
  t.equal(successRate(0, 0), 0);
  t.equal(successRate(0, 3), 0);
  t.equal(successRate(3, 0), 100);
  t.equal(successRate(1, 2), 33.33);
  t.equal(successRate(2, 1), 66.67);
  t.equal(successRate(1, 7), 12.5);
  t.equal(successRate(999_999, 1), 100);
});

t.test('The profile needs a session', async (t) => {
  const answer = await app.inject({ url });
  t.equal(answer.statusCode, 401);
  t.match(answer.json(), { success: false, error: 'Unauthorized', message: /.+/ });
});
