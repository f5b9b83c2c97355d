import { auditLog, connect, settings, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { buildApp } from '../../../src/entry/app.ts';
import { assertNeedsAdmin } from '../../support/access.ts';
import { START, testContext } from '../../support/context.ts';
import { PASSWORD, type Person, signUpAda, signUpAlice } from '../../support/people.ts';
import { postTask, readTask, TASK } from '../../support/tasks.ts';

const { app, ctx, clock, databaseUrl } = await testContext(t);
const { db, close } = connect(databaseUrl, { max: 4 });
const other = await buildApp({ ...ctx, db });
t.teardown(async () => {
  await other.close();
  await close();
});

const DEFAULTS = {
  trialDurationDays: 14,
  maxTasksPerUser: 100,
  maxExecutionsPerDay: 500,
  defaultModel: 'openai/gpt-5-mini',
  maintenanceMode: false,
};
const url = '/api/admin/settings';
let ada: Person;
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  await ctx.db.delete(auditLog);
  await ctx.db.update(settings).set({ ...DEFAULTS, updatedAt: START });
  ada = await signUpAda(app);
  alice = await signUpAlice(app);
});

const get = () => app.inject({ url, headers: ada.headers });
const patch = (payload: object, headers: object = ada.headers) =>
  app.inject({ method: 'PATCH', url, headers: { ...headers }, payload });

t.test('The settings in force are shown', async (t) => {
  const answer = await get();
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), { success: true, settings: DEFAULTS });
});

t.test('Given settings are changed and shown, and the others stay', async (t) => {
  clock.advance(5000);
  const answer = await patch({ trialDurationDays: 0, defaultModel: 'anthropic/claude' });
  t.equal(answer.statusCode, 200);
  const updatedAt = '2026-11-20T10:00:05.000Z';
  t.same(answer.json(), {
    success: true,
    settings: { trialDurationDays: 0, defaultModel: 'anthropic/claude', updatedAt },
  });
  t.same((await get()).json().settings, { ...DEFAULTS, trialDurationDays: 0, defaultModel: 'anthropic/claude' });
  const all = { ...DEFAULTS, maxTasksPerUser: 1, maxExecutionsPerDay: 1, maintenanceMode: true };
  t.same((await patch(all)).json().settings, { ...all, updatedAt });
});

t.test('A change is recorded with the admin, the values before and after, and the address', async (t) => {
  await patch({ maintenanceMode: true, maxTasksPerUser: 100 }, { ...ada.headers, 'x-request-id': 'settings-1' });
  const entries = await ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'settings.changed'));
  t.same(
    entries.map(({ id: _id, ...entry }) => entry),
    [
      {
        at: START,
        kind: 'settings.changed',
        actorId: ada.id,
        actorEmail: ada.email,
        userId: null,
        details: { before: { maintenanceMode: false }, after: { maintenanceMode: true } },
        address: '127.0.0.1',
        requestId: 'settings-1',
      },
    ],
  );
});

t.test('A change that changes nothing is not recorded', async (t) => {
  clock.advance(5000);
  for (const payload of [{}, DEFAULTS]) {
    t.same((await patch(payload)).json().settings, { ...payload, updatedAt: START.toISOString() });
  }
  t.equal(await ctx.db.$count(auditLog, eq(auditLog.kind, 'settings.changed')), 0);
});

t.test('Invalid settings are rejected by name, and nothing is changed', async (t) => {
  for (const [field, value] of [
    ['trialDurationDays', -1],
    ['trialDurationDays', 1.5],
    ['trialDurationDays', 36_501],
    ['trialDurationDays', '14'],
    ['maxTasksPerUser', 0],
    ['maxTasksPerUser', null],
    ['maxTasksPerUser', 2_147_483_648],
    ['maxExecutionsPerDay', 0],
    ['maxExecutionsPerDay', -5],
    ['defaultModel', ''],
    ['defaultModel', '  '],
    ['maintenanceMode', 'true'],
    ['updatedAt', START.toISOString()],
    ['id', 2],
  ] as const) {
    const answer = await patch({ maxExecutionsPerDay: 7, [field]: value });
    t.equal(answer.statusCode, 400, `${field}: ${value}`);
    t.match(answer.json(), { success: false, error: 'Validation error', details: { [field]: [String] } });
  }
  t.same((await get()).json().settings, DEFAULTS);
});

t.test('A change is in force with the next request, in every process', async (t) => {
  await patch({ trialDurationDays: 3, defaultModel: 'acme/model', maxTasksPerUser: 1, maxExecutionsPerDay: 1 });
  t.equal((await readTask(other, alice, await postTask(other, alice))).aiModel, 'acme/model');
  const headers = alice.headers;
  const more = await other.inject({ method: 'POST', url: '/api/agent/create-task', headers, payload: TASK });
  t.match(more.json(), { error: 'Quota exceeded', details: { resource: 'activeTasks', used: 1, limit: 1 } });

  const task = (await other.inject({ url: '/api/tasks', headers })).json().tasks[0];
  const run = () => other.inject({ method: 'POST', url: `/api/tasks/${task.id}/execute`, headers });
  t.equal((await run()).statusCode, 201);
  t.match((await run()).json(), { error: 'Quota exceeded', details: { resource: 'executions', used: 1, limit: 1 } });

  const payload = { name: 'Bob', email: 'bob@example.com', password: PASSWORD };
  await other.inject({ method: 'POST', url: '/api/auth/register', payload });
  const [bob] = await ctx.db.select().from(users).where(eq(users.email, 'bob@example.com'));
  t.same(bob?.trialEndsAt, new Date('2026-11-23T10:00:00Z'));
});

t.test('Maintenance mode closes every process at once, and an admin ends it', async (t) => {
  for (const isOn of [true, false]) {
    t.equal((await patch({ maintenanceMode: isOn })).statusCode, 200);
    for (const process of [app, other]) {
      const answer = await process.inject({ url: '/api/user', headers: alice.headers });
      t.equal(answer.statusCode, isOn ? 503 : 200);
    }
  }
});

t.test('Concurrent changes of several admins are all made, and each record has the values that it found', async (t) => {
  await Promise.all(Array.from({ length: 10 }, (_, n) => patch({ maxTasksPerUser: n + 1 })));
  const entries = await ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.kind, 'settings.changed'))
    .orderBy(auditLog.id);
  const steps = entries.map(({ details }) => details as { before: object; after: object });
  t.equal(steps.length, 10);
  t.same(steps[0]?.before, { maxTasksPerUser: 100 });
  for (const [at, { before }] of steps.entries()) if (at > 0) t.same(before, steps[at - 1]?.after);
});

t.test('Settings need an admin with the key', async (t) => {
  await assertNeedsAdmin(t, app, { url }, { ada, alice });
  await assertNeedsAdmin(t, app, { method: 'PATCH', url, payload: { maintenanceMode: true } }, { ada, alice });
  t.same((await get()).json().settings, DEFAULTS);
});
