import {
  auditLog,
  endpoints,
  executions,
  mails,
  notifications,
  queryRows,
  sessions,
  tasks,
  uploads,
  users,
} from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { queueMail } from '../../src/lib/mail/queue.ts';
import { completeExecutions } from '../../src/product/executions/pipeline/complete.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { notifyUsers } from '../../src/product/notifications/write.ts';
import { assertNeedsAdmin } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { buildResult } from '../support/executions.ts';
import { findInconsistencies } from '../support/inconsistencies.ts';
import { PASSWORD, type Person, signUp, signUpAda, signUpAlice, signUpBob } from '../support/people.ts';
import { INVALID_IDS, insertUpload, postTask, runDue, TASK } from '../support/tasks.ts';
import { postWebhook } from '../support/webhooks.ts';

const { app, ctx, clock } = await testContext(t);
const aborted: number[] = [];
ctx.worker = { ...ctx.worker, abort: (ids) => void aborted.push(...ids) };
let ada: Person;
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  await ctx.db.delete(auditLog);
  ada = await signUpAda(app);
  alice = await signUpAlice(app);
});
t.afterEach(async () => {
  const faults = await findInconsistencies(ctx);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
});

const remove = (id: number | string, { headers }: Person = ada) =>
  app.inject({ method: 'DELETE', url: `/api/admin/users/${id}`, headers });
const execute = (taskId: number, { headers }: Person = alice) =>
  app.inject({ method: 'POST', url: `/api/tasks/${taskId}/execute`, headers });

t.test('An account is deleted with its sessions, and its e-mail address is free again', async (t) => {
  const answer = await remove(alice.id);
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), { success: true, message: 'The account and all its data are deleted.' });
  t.equal((await app.inject({ url: '/api/user', headers: alice.headers })).statusCode, 401);
  const payload = { email: alice.email, password: PASSWORD };
  t.equal((await app.inject({ method: 'POST', url: '/api/auth/login', payload })).statusCode, 401);
  t.equal((await remove(alice.id)).statusCode, 404, 'a second time it is not found');
  const again = { method: 'POST', url: '/api/auth/register', payload: { ...payload, name: 'Alice' } } as const;
  t.equal((await app.inject(again)).statusCode, 201);
});

t.test('No table has anything of a deleted account, and another account loses nothing', async (t) => {
  const bob = await signUpBob(app);
  for (const person of [alice, bob]) {
    const webhook = await postWebhook(app, person, { url: 'https://hooks.example.com', events: ['task.created'] });
    await postTask(app, person, { aiModel: 'offline', attachments: [(await insertUpload(ctx, person)).id] });
    await execute(await postTask(app, person, { scheduledFor: '2026-12-24T00:00:00.000Z' }), person);
    await notifyUsers(ctx, [{ userId: person.id, kind: 'task.failed', title: 'A', message: 'B', path: webhook.id }]);
    await queueMail(ctx, { to: person.email, subject: 'A', text: 'B' });
    const alert = { threshold: 80, notifyEmail: true, notifyWebhook: true };
    await app.inject({ method: 'POST', url: '/api/usage/alerts', headers: person.headers, payload: alert });
  }
  clock.set(TASK.scheduledFor);
  await runDue(ctx);
  await remove(alice.id);
  const referring = await queryRows<{ table: string; column: string }>(
    ctx.db,
    sql`select table_name as "table", column_name as "column" from information_schema.columns
      where table_schema = 'public' and column_name in ('user_id')`,
  );
  t.ok(referring.length > 10, 'all tables were checked');
  for (const { table, column } of referring) {
    const [left] = await queryRows<{ count: number }>(
      ctx.db,
      sql`select count(*)::int as count from ${sql.identifier(table)} where ${sql.identifier(column)} = ${alice.id}`,
    );
    t.equal(left?.count, /^audit_log(_before)?$/.test(table) ? 1 : 0, table);
  }
  for (const table of [tasks, executions]) t.equal(await ctx.db.$count(table, eq(table.userId, bob.id)), 2);
  for (const table of [sessions, uploads, endpoints, notifications]) {
    t.equal(await ctx.db.$count(table, eq(table.userId, bob.id)), 1);
  }
  const recipients = await ctx.db.select({ recipient: mails.recipient }).from(mails);
  t.same([...new Set(recipients.map(({ recipient }) => recipient))], [bob.email]);
});

t.test('The record of the deletion stays, with the admin and the address', async (t) => {
  const headers = { ...ada.headers, 'x-request-id': 'delete-1' };
  await remove(alice.id, { ...ada, headers });
  const left = await ctx.db.select().from(auditLog).where(eq(auditLog.userId, alice.id));
  t.same(
    left.map(({ id: _id, ...entry }) => entry),
    [
      {
        at: START,
        kind: 'user.deleted',
        actorId: ada.id,
        actorEmail: ada.email,
        userId: alice.id,
        details: { before: { email: alice.email, role: 'USER' }, after: null },
        address: '127.0.0.1',
        requestId: 'delete-1',
      },
    ],
  );
});

t.test('A running execution is aborted, and leaves no trace', async (t) => {
  await execute(await postTask(app, alice));
  const [run] = (await pipeline.claim(ctx, { limit: 10, after: 0 })).started;
  if (!run) return t.fail('it did not start');
  await remove(alice.id);
  t.same(aborted.splice(0), [run.id]);
  t.same(await completeExecutions(ctx, [buildResult(run)]), []);
});

t.test('The last active admin is not deleted, also not by themselves', async (t) => {
  const answer = await remove(ada.id);
  t.equal(answer.statusCode, 409);
  t.same(answer.json(), { success: false, error: 'This is the last active admin.' });
  await signUp(app, { name: 'Bob', role: 'ADMIN' });
  t.equal((await remove(ada.id)).statusCode, 200, 'accepted while another admin stays');
});

t.test('Of two admins who delete each other concurrently exactly one is deleted', async (t) => {
  for (let round = 0; round < 10; round++) {
    await ctx.db.delete(users);
    const [one, two] = [await signUpAda(app), await signUp(app, { name: 'Bob', role: 'ADMIN' })];
    const answers = await Promise.all([remove(two.id, one), remove(one.id, two)]);
    const statuses = answers.map(({ statusCode }) => statusCode);
    t.equal(statuses.filter((status) => status === 200).length, 1, String(statuses));
    t.ok(
      statuses.every((status) => [200, 401, 409].includes(status)),
      String(statuses),
    );
    t.equal(await ctx.db.$count(users), 1);
  }
});

t.test('Concurrent deletions delete and record an account once', async (t) => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => remove(alice.id)));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, ...Array(7).fill(404)]);
  t.equal(await ctx.db.$count(auditLog, eq(auditLog.kind, 'user.deleted')), 1);
});

t.test('A deletion beside running tasks leaves nothing of the account', async (t) => {
  for (let round = 0; round < 5; round++) {
    const person = await signUp(app, { name: 'Alice' });
    const id = await postTask(app, person, { aiModel: 'offline' });
    const [removed, ...others] = await Promise.all([
      remove(person.id),
      execute(id, person),
      execute(id, person),
      runDue(ctx).then(() => ({ statusCode: 201 })),
    ]);
    t.equal(removed.statusCode, 200);
    for (const { statusCode } of others) t.ok([201, 401, 404].includes(statusCode), String(statusCode));
    t.equal(await ctx.db.$count(executions, eq(executions.userId, person.id)), 0);
  }
});

t.test('An unknown account is not found', async (t) => {
  for (const id of [...INVALID_IDS, '2147483647']) t.equal((await remove(id)).statusCode, 404, id);
});

t.test('Deleting an account needs an admin with the key', async (t) => {
  await assertNeedsAdmin(t, app, { method: 'DELETE', url: `/api/admin/users/${alice.id}` }, { ada, alice });
  t.equal(await ctx.db.$count(users, eq(users.id, alice.id)), 1);
});
