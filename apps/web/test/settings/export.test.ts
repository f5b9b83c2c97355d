import { eq } from 'drizzle-orm';
import t from 'tap';
import {
  alerts,
  auditLog,
  notifications,
  runQuestions,
  taskVersions,
  users,
} from '../../../../packages/db/src/index.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { createKey } from '../../../api/test/support/keys.ts';
import { PASSWORD, signUp, signUpAlice, signUpBob } from '../../../api/test/support/people.ts';
import { insertProposal } from '../../../api/test/support/proposals.ts';
import { insertTask } from '../../../api/test/support/task-rows.ts';
import { TASK } from '../../../api/test/support/tasks.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
const HOSTILE = '"><script>alert(1)</script>\u2028‮{{7*7}}';
const NOTIFICATIONS = 205;

t.test('An export has all of an account in pages of rows, and nothing of others or secret', async (t) => {
  const createdAt = ctx.now();
  const message = (userId: number) => ({ userId, kind: 'task.failed', title: HOSTILE, message: 'of Alice', createdAt });
  await ctx.db.insert(notifications).values(Array.from({ length: NOTIFICATIONS }, () => message(alice.id)));
  await ctx.db.insert(notifications).values({ ...message(bob.id), message: 'of Bob' });
  const taskId = await insertTask(ctx, alice.id);
  const alert = {
    userId: alice.id,
    taskId,
    kind: 'task.overdue' as const,
    at: createdAt,
    message: '',
    data: {},
    createdAt,
  };
  await ctx.db.insert(alerts).values({ ...alert, title: HOSTILE });
  const { secret } = await createKey(app, alice);
  const webhook = { url: 'https://example.com/hook', events: ['task.completed'] };
  await app.inject({ method: 'POST', url: '/api/webhooks', headers: alice.headers, payload: webhook });

  const channel = { kind: 'ntfy', name: 'Phone', url: 'https://ntfy.example.com', topic: 'news', token: 'tk_secret' };
  await app.inject({ method: 'POST', url: '/api/channels', headers: alice.headers, payload: channel });

  const question = { executionId: 1, taskId, userId: alice.id, model: 'm', createdAt };
  const version = { taskId, number: 1, userId: alice.id, via: 'api' as const, createdAt };
  await ctx.db.insert(taskVersions).values({ ...version, fields: ['prompt'], settings: { prompt: TASK.prompt } });
  await ctx.db.insert(runQuestions).values({ ...question, message: 'Why?', content: 'Because.' });
  await insertProposal(ctx, alice);
  await insertProposal(ctx, bob);
  const visitor = visit(app, alice);
  const page = await visitor.open('/settings/export');
  t.match(page, { status: 200, heading: 'Export account' });
  const { response } = await visitor.submit(page, 'Export account');
  t.match(response.headers, {
    'content-type': /^application\/json/,
    'content-disposition': 'attachment; filename="carillon-2026-11-20.json"',
    'cache-control': 'no-store',
  });
  const exported = response.json();
  t.match(exported, { account: { email: alice.email }, settings: { email: alice.email }, runs: [] });
  t.match(exported.alerts, [{ kind: 'task.overdue', taskId, title: HOSTILE }]);
  t.equal(exported.notifications.length, NOTIFICATIONS);
  t.equal(new Set(exported.notifications.map(({ id }: { id: number }) => id)).size, NOTIFICATIONS);
  t.equal(exported.notifications[0].title, HOSTILE);
  t.match(exported.versions, [{ taskId, number: 1, via: 'api', settings: { prompt: TASK.prompt } }]);
  t.equal(exported.versions.length, 1);
  t.match(exported.questions, [{ executionId: 1, message: 'Why?', content: 'Because.' }]);
  t.equal(exported.questions.length, 1);
  t.equal(exported.proposals.length, 1);
  t.match(exported.proposals, [{ task: { name: TASK.name }, confirmedAt: null }]);
  t.match(exported.webhooks, [{ url: webhook.url }]);
  t.match(exported.channels, [{ kind: 'ntfy', settings: { url: channel.url, topic: 'news' } }]);
  t.equal(exported.webhooks.length, 1, 'without the channel');
  t.match(exported.keys, [{ name: 'A program' }]);
  t.notMatch(response.body, /of Bob|whsec_|tk_secret|password|[Ss]ealed/);
  t.notMatch(response.body, secret);
  const [entry] = await ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'user.exported'));
  t.match(entry, { actorId: alice.id, userId: alice.id });
});

t.test('A session that is older than 15 minutes exports, and creates keys, with the password only', async (t) => {
  clock.advance(15 * 60 * 1000);
  const visitor = visit(app, alice);
  const page = await visitor.open('/settings/export');
  const asked = await visitor.submit(page, 'Export account');
  t.match(asked, { status: 422, heading: 'Export account' });
  t.match(asked.document.querySelector('#currentPassword-error')?.text, /is needed: you signed in more than/);
  const wrong = await visitor.submit(asked, 'Export account', { currentPassword: 'Wrong-2026' });
  t.match(wrong.document.querySelector('#currentPassword-error')?.text, /is wrong/);

  const keys = await visitor.open('/settings/keys');
  const refused = await visitor.submit(keys, 'Create key', { name: 'Backup job', scopes: ['tasks:read'] });
  t.equal(refused.status, 422);
  t.ok(refused.document.querySelector('#currentPassword-error'));
  t.equal(refused.document.querySelector('[name=name]')?.getAttribute('value'), 'Backup job');
  const values = { scopes: ['tasks:read'], currentPassword: PASSWORD };
  t.match(await visitor.submit(refused, 'Create key', values), { heading: 'Key created' });
  const { response } = await visitor.submit(page, 'Export account');
  t.equal(response.json().keys.length, 2, 'confirmed for 15 minutes');
});

t.test('An old session of an account without a password is told to sign in again', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  await ctx.db.update(users).set({ passwordHash: null }).where(eq(users.id, carol.id));
  clock.advance(15 * 60 * 1000);
  const visitor = visit(app, carol);
  const page = await visitor.submit(await visitor.open('/settings/export'), 'Export account');
  t.match(page, { status: 409, text: /sign out, and sign in again/ });
  t.notOk(page.document.querySelector('[name=currentPassword]'));
});
