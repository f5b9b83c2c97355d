import { endpoints, queryRows, tasks, users } from '@carillon/db';
import { eq, getTableColumns, sql } from 'drizzle-orm';
import { getTableConfig } from 'drizzle-orm/pg-core';
import t from 'tap';
import { rotateSecret } from '../../../src/product/deliveries/webhooks/write.ts';
import { START, testContext } from '../../support/context.ts';
import { findCallerByToken, PASSWORD, signUp } from '../../support/people.ts';
import { postTask, runDue } from '../../support/tasks.ts';
import { postWebhook } from '../../support/webhooks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

/** Columns that no GET shows. A new column belongs here or into a trigger of a migration. */
const NOT_SHOWN = {
  tasks: [
    ...[
      'id',
      'revision',
      'consecutive_failures',
      'waiting_failures',
      'last_duration_ms',
      'planned_runs',
      'cost_month',
      'month_cost_usd',
    ],
    ...['last_success_id', 'last_success_at', 'last_success_digest', 'overdue_at', 'alerting_since'],
    ...['is_failing_alerted', 'acknowledged_cause', 'acknowledged_at', 'not_done_in_row', 'fallbacks_in_row'],
    ...['last_success_cost_usd', 'version', 'used_version', 'is_imported'],
  ],
  users: ['id', 'revision', 'email_verified_at', 'password_hash', 'task_count', 'unseen_from_id'],
  endpoints: [
    ...['id', 'revision', 'secret_encrypted', 'secret_lookup', 'previous_secret_encrypted', 'previous_secret_until'],
    ...['last_attempt_ok', 'window_ends_at', 'window_count', 'updated_at', 'kind', 'last_sent_at', 'unsubscribe_hash'],
  ],
};

t.test('Every column that a GET shows is one of which a trigger increases the revision', async (t) => {
  for (const table of [tasks, users, endpoints]) {
    const { name, columns } = getTableConfig(table);
    const watched = await queryRows<{ name: string }>(
      ctx.db,
      sql`select distinct a.attname as name from pg_trigger t
        join pg_attribute a on a.attrelid = t.tgrelid and a.attnum = any(t.tgattr)
        where t.tgrelid = ${name}::regclass and t.tgfoid = 'increase_revision'::regproc and t.tgenabled = 'O'`,
    );
    const given = [...watched.map((column) => column.name), ...NOT_SHOWN[name as keyof typeof NOT_SHOWN]];
    t.same(given.sort(), columns.map((column) => column.name).sort(), name);
  }
});

t.test('A change of each shown column of a task and of a webhook increases the revision, by any writer', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  const webhook = await postWebhook(app, alice);
  const later = new Date(START.getTime() + 1);
  const values = {
    tasks: {
      ...{
        name: 'x',
        description: 'x',
        prompt: 'x',
        scheduledFor: later,
        nextExecutionAt: later,
        recurrence: 'weekly',
      },
      ...{ recurrencePattern: '* * * * *', timezone: 'Asia/Tokyo', aiModel: 'x', maxTokens: 1, temperature: 1 },
      ...{ executionCount: 1, lastExecutionAt: later, attachments: [webhook.id], webhookUrl: 'x' },
      ...{ notificationEmail: 'x', createdAt: later, updatedAt: later },
      ...{ context: { clock: false, previousResult: true }, outputSchema: {}, notify: 'change', watch: ['x'] },
      ...{ missed: 'none', overlap: 'queue', endsAt: later, maxRuns: 1, pausedUntil: later, timeoutMs: 1000 },
      ...{ monthlyBudgetUsd: 1, maxRetries: 0, maxToolUses: 3, tools: ['web_search'], alerts: {} },
      ...{ sources: [{ name: 'a', search: 'b' }], runIf: 'changed' },
    },
    webhooks: { url: 'x', events: ['x'], description: 'x', status: 'failed', createdAt: later },
  };
  for (const [field, value] of Object.entries(values.tasks)) {
    const [before] = await ctx.db.select({ revision: tasks.revision }).from(tasks).where(eq(tasks.id, id));
    const [after] = await ctx.db
      .update(tasks)
      .set({ [field]: value })
      .where(eq(tasks.id, id))
      .returning();
    t.ok(Number(after?.revision) > Number(before?.revision), field);
  }
  for (const [field, value] of Object.entries(values.webhooks)) {
    const one = eq(endpoints.id, webhook.id);
    const [before] = await ctx.db.select({ revision: endpoints.revision }).from(endpoints).where(one);
    const [after] = await ctx.db
      .update(endpoints)
      .set({ [field]: value })
      .where(one)
      .returning();
    t.equal(after?.revision, Number(before?.revision) + 1, field);
    const [again] = await ctx.db
      .update(endpoints)
      .set({ [field]: value })
      .where(one)
      .returning();
    t.equal(again?.revision, after?.revision, `${field} to the same value`);
  }
});

t.test(
  'A change of what no GET shows does not change the revision: attempts, secrets, a sign-in, a new task',
  async (t) => {
    const alice = await signUp(app);
    const caller = await findCallerByToken(ctx, alice.token);
    const id = await postTask(app, alice, { aiModel: 'offline' });
    const webhook = await postWebhook(app, alice);
    await ctx.db.update(tasks).set({ consecutiveFailures: 2, lastDurationMs: 5 }).where(eq(tasks.id, id));
    await rotateSecret(ctx, caller!, webhook.id);
    await ctx.db.update(endpoints).set({ windowCount: 3, windowEndsAt: START, lastAttemptOk: true, status: 'active' });
    const login = {
      method: 'POST',
      url: '/api/auth/login',
      payload: { email: alice.email, password: PASSWORD },
    } as const;
    t.equal((await app.inject(login)).statusCode, 200);
    const [task] = await ctx.db.select().from(tasks).where(eq(tasks.id, id));
    const [hook] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, webhook.id));
    const [user] = await ctx.db.select().from(users).where(eq(users.id, alice.id));
    t.same([task?.revision, hook?.revision, user?.revision], [1, 1, 1]);
  },
);

t.test('A run increases the revision of its task when it is queued and when it starts', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  clock.set('2026-11-20T11:00:00Z');
  await runDue(ctx);
  const [task] = await ctx.db.select().from(tasks).where(eq(tasks.id, id));
  t.match(task, { status: 'active', executionCount: 1, revision: 3 });
});

t.test('The lists of this test name columns that exist', (t) => {
  for (const table of [tasks, users, endpoints]) {
    const names = Object.values(getTableColumns(table)).map((column) => column.name);
    const { name } = getTableConfig(table);
    t.same(
      NOT_SHOWN[name as keyof typeof NOT_SHOWN].filter((column) => !names.includes(column)),
      [],
    );
  }
  t.end();
});
