import { auditLog, mails, notificationAddresses, queryRows, tasks, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { notifyUsers } from '../../src/product/notifications/write.ts';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { findInconsistencies } from '../support/inconsistencies.ts';
import { PASSWORD, type Person, signUp, signUpAda, signUpAlice, signUpBob } from '../support/people.ts';
import { insertProposal } from '../support/proposals.ts';
import { insertUpload, postTask } from '../support/tasks.ts';
import { postWebhook } from '../support/webhooks.ts';

const { app, ctx, clock } = await testContext(t);
const aborted: number[] = [];
ctx.worker = { ...ctx.worker, abort: (ids) => void aborted.push(...ids) };
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  aborted.length = 0;
  for (const table of [mails, users, auditLog]) await ctx.db.delete(table);
  alice = await signUpAlice(app);
});
t.afterEach(async () => {
  const faults = await findInconsistencies(ctx);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
});

const url = '/api/user';
const remove = ({ headers }: Pick<Person, 'headers'>, payload: object = { currentPassword: PASSWORD }, to = app) =>
  to.inject({ method: 'DELETE', url, headers, payload });
const exists = async ({ id }: Person) => (await ctx.db.$count(users, eq(users.id, id))) === 1;

t.test('An account is deleted with its password, and its sessions and cookie end', async (t) => {
  const answer = await remove(alice);
  t.same(
    [answer.statusCode, answer.json()],
    [200, { success: true, message: 'Your account and all its data are deleted.' }],
  );
  t.match(answer.headers['set-cookie'], /^local-session=;.*Max-Age=0/);
  t.equal((await app.inject({ url, headers: alice.headers })).statusCode, 401);
  t.equal((await remove(alice)).statusCode, 401);
  const payload = { name: 'Alice', email: alice.email, password: PASSWORD };
  t.equal((await app.inject({ method: 'POST', url: '/api/auth/register', payload })).statusCode, 201);
});

t.test('Only the fact of its deletion is left of an account, and other accounts lose nothing', async (t) => {
  const bob = await signUpBob(app);
  for (const person of [alice, bob]) {
    await postWebhook(app, person, { url: 'https://hooks.example.com', events: ['task.created'] });
    const upload = await insertUpload(ctx, person);
    const id = await postTask(app, person, { attachments: [upload.id], notificationEmail: 'team@example.com' });
    await app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers: person.headers });
    await insertProposal(ctx, person);
    await notifyUsers(ctx, [{ userId: person.id, kind: 'task.failed', title: 'A', message: 'B', path: '/' }]);
    await app.inject({
      ...{ method: 'PATCH', url, headers: person.headers },
      payload: { email: `new-${person.email}`, currentPassword: PASSWORD },
    });
  }
  const started = (await pipeline.claim(ctx, { limit: 10, after: 0 })).started;
  t.equal((await remove(alice)).statusCode, 200);
  const columns = await queryRows<{ table: string; column: string }>(
    ctx.db,
    sql`select table_name as "table", column_name as "column" from information_schema.columns
      where table_schema = 'public' and column_name in ('user_id', 'actor_id')`,
  );
  t.ok(columns.length > 12, 'all tables were checked');
  for (const { table, column } of columns) {
    const [left] = await queryRows<{ count: number }>(
      ctx.db,
      sql`select count(*)::int as count from ${sql.identifier(table)} where ${sql.identifier(column)} = ${alice.id}`,
    );
    t.equal(left?.count, /^audit_log(_before)?$/.test(table) ? 1 : 0, `${table}.${column}`);
  }
  const left = await ctx.db.select().from(auditLog).where(eq(auditLog.userId, alice.id));
  t.match(left, [{ kind: 'user.deleted', actorId: alice.id, actorEmail: null, address: null, details: {} }]);
  t.notMatch(JSON.stringify([left, await ctx.db.select().from(mails)]), alice.email);
  t.same(
    aborted,
    started.filter(({ userId }) => userId === alice.id).map(({ id }) => id),
  );
  t.same([aborted.length, await ctx.db.$count(tasks), await ctx.db.$count(notificationAddresses)], [1, 1, 1]);
});

t.test('A stolen session deletes nothing: the password is required, and guessing it is limited', async (t) => {
  const own = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const person = await signUpAlice(own.app);
  const details = async (payload: object) => (await remove(person, payload, own.app)).json().details;
  t.same(await details({}), { currentPassword: ['is required'] });
  t.same(await details({ email: person.email }), { currentPassword: ['is required'] });
  for (let n = 0; n < 5; n++)
    t.same(await details({ currentPassword: `Wrong-${n}` }), { currentPassword: ['is wrong'] });
  t.equal((await remove(person, { currentPassword: PASSWORD }, own.app)).statusCode, 429);
  t.equal(await own.ctx.db.$count(users), 1);
});

t.test('An account without a password repeats its address, in a session of the last 15 minutes', async (t) => {
  await ctx.db.update(users).set({ passwordHash: null });
  t.same((await remove(alice)).json().details, { email: ['is required'] });
  const wrong = await remove(alice, { email: 'bob@example.com' });
  t.same([wrong.statusCode, wrong.json().details], [400, { email: ['is not the address of this account'] }]);
  clock.advance(15 * 60_000);
  const late = await remove(alice, { email: alice.email });
  t.equal(late.statusCode, 403);
  t.match(late.json().error, /Sign in again first/);
  t.ok(await exists(alice));
  clock.advance(-1);
  t.equal((await remove(alice, { email: ' Alice@Example.com ' })).statusCode, 200);
});

t.test('The last active admin cannot delete themselves, another one can', async (t) => {
  const ada = await signUpAda(app);
  const answer = await remove(ada);
  t.same([answer.statusCode, answer.json()], [409, { success: false, error: 'This is the last active admin.' }]);
  await signUp(app, { name: 'Bob', role: 'ADMIN' });
  t.equal((await remove(ada)).statusCode, 200);
});

t.test('One of several admins who delete themselves at the same time stays', async (t) => {
  const admins = await Promise.all(Array.from({ length: 4 }, () => signUp(app, { name: 'Ada', role: 'ADMIN' })));
  const statuses = (await Promise.all(admins.map((admin) => remove(admin)))).map(({ statusCode }) => statusCode);
  t.same(statuses.sort(), [200, 200, 200, 409]);
  t.equal(await ctx.db.$count(users, eq(users.role, 'ADMIN')), 1);
});

t.test('Concurrent deletions delete and record an account once', async (t) => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => remove(alice)));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, ...Array(5).fill(401)]);
  t.equal(await ctx.db.$count(auditLog, eq(auditLog.kind, 'user.deleted')), 1);
});

t.test('Deleting an account needs a session', async (t) => {
  await assertNeedsSession(t, app, { method: 'DELETE', url, payload: { currentPassword: PASSWORD } });
});
