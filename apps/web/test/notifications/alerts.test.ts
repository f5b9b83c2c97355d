import { eq } from 'drizzle-orm';
import t from 'tap';
import { mails, tasks } from '../../../../packages/db/src/index.ts';
import { recordAlerts } from '../../../api/src/product/notifications/alerts/record.ts';
import { inTransaction } from '../../../api/src/transaction.ts';
import { insertChannel } from '../../../api/test/support/channel-rows.ts';
import { START, testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { type Person, signUp } from '../../../api/test/support/people.ts';
import { insertTask } from '../../../api/test/support/task-rows.ts';
import { SESSION_STATEMENTS, type ShownPage, visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

const newAlice = () => signUp(app, { name: 'Alice', timezone: 'Europe/Berlin' });
const titlesOf = ({ document }: ShownPage) => document.querySelectorAll('main h3').map(({ text }) => text);
async function alert({ id: userId }: Person, taskId: number, name: string) {
  clock.advance(60_000);
  const data = { task: { id: taskId, name }, plannedFor: ctx.now(), overdueMinutes: 15 };
  const rest = { executionId: null, notificationEmail: null, viaWebhook: false };
  const owner = { language: 'en', timezone: null } as const;
  const due = { kind: 'task.overdue', userId, owner, at: ctx.now(), data, ...rest } as const;
  await inTransaction(ctx, (tx) => recordAlerts(tx, [due]));
}

t.test('A list without alerts says what they are and leads to the tasks', async (t) => {
  const visitor = visit(app, await newAlice());
  const page = await visitor.open('/alerts');
  t.match(page, { status: 200, heading: 'Alerts', text: /No alerts yet\./ });
  t.ok(page.document.querySelector('main a[href="/tasks"]'));
  t.ok(page.document.querySelector('nav a[href="/alerts"][aria-current="page"]'));
});

t.test('Alerts are listed newest first with where they were sent', async (t) => {
  const alice = await newAlice();
  const news = await insertTask(ctx, alice.id, { name: 'News' });
  await alert(alice, news, 'News');
  await ctx.db
    .update(mails)
    .set({ nextAttemptAt: null, bodyEncrypted: null, failedAt: ctx.now(), error: 'No such mailbox' });
  await alert(alice, news, 'News again');
  const page = await visit(app, alice).open('/alerts');
  t.same(titlesOf(page), ['Task "News again" is overdue', 'Task "News" is overdue not delivered']);
  t.match(
    page.text,
    new RegExp(`Waiting to be sent to ${alice.email}.*Not delivered to ${alice.email}: No such mailbox`),
  );
  t.equal(page.document.querySelectorAll(`main a[href="/tasks/${news}"]`).length, 2);
});

t.test('The list is limited to a task', async (t) => {
  const alice = await newAlice();
  const [news, weather] = [await insertTask(ctx, alice.id), await insertTask(ctx, alice.id, { name: 'Weather' })];
  await alert(alice, news, 'News');
  await alert(alice, weather, 'Weather');
  const visitor = visit(app, alice);
  const page = await visitor.open(`/alerts?taskId=${weather}`);
  t.same(titlesOf(page), ['Task "Weather" is overdue']);
  t.match(page.text, /Only alerts of Weather\. Show all/);
  t.match((await visitor.open('/alerts?taskId=abc')).status, 200);
});

t.test("A stranger's alerts are not shown", async (t) => {
  const alice = await newAlice();
  const bob = await signUp(app, { name: 'Bob' });
  const task = await insertTask(ctx, bob.id);
  await alert(bob, task, 'Of Bob');
  const visitor = visit(app, alice);
  t.same(titlesOf(await visitor.open('/alerts')), []);
  t.same(titlesOf(await visitor.open(`/alerts?taskId=${task}`)), []);
});

t.test('A long list has pages', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id);
  for (let n = 0; n < 26; n++) await alert(alice, task, `Late ${n}`);
  const visitor = visit(app, alice);
  const first = await visitor.open('/alerts');
  t.equal(titlesOf(first).length, 25);
  const next = first.document.querySelector('a[rel="next"]')?.getAttribute('href') ?? '';
  t.same(titlesOf(await visitor.open(next.replaceAll('&amp;', '&'))), ['Task "Late 0" is overdue']);
});

t.test('The page costs the session and one statement more', async (t) => {
  const alice = await newAlice();
  await alert(alice, await insertTask(ctx, alice.id), 'Late');
  const visitor = visit(app, alice);
  await visitor.open('/alerts');
  const count = countStatements(ctx.db);
  await visitor.open('/alerts');
  t.equal(count(), SESSION_STATEMENTS + 1);
});

t.test('Home names the task that is silent, until it has run, and the one over its budget', async (t) => {
  const alice = await newAlice();
  const silent = await insertTask(ctx, alice.id, { name: 'News' });
  await insertTask(ctx, alice.id, { name: 'Costly', monthlyBudgetUsd: 2, costMonth: '2026-11', monthCostUsd: 2.5 });
  await insertTask(ctx, alice.id, { name: 'Last month', monthlyBudgetUsd: 2, costMonth: '2026-10', monthCostUsd: 2.5 });
  await ctx.db.update(tasks).set({ alertingSince: START }).where(eq(tasks.id, silent));
  await alert(alice, silent, 'News');
  const visitor = visit(app, alice);
  const needs = async () => {
    const { document } = await visitor.open('/');
    return document.querySelectorAll('.needs p').map(({ text }) => text);
  };
  t.match(await needs(), [
    /^News: the run planned today at 11:01 has not finished/,
    /^Costly: the monthly budget of \$2\.00 is used/,
  ]);
  t.equal((await needs()).length, 2);
  await ctx.db.update(tasks).set({ alertingSince: null }).where(eq(tasks.id, silent));
  t.match(await needs(), [/^Costly/]);
});

t.test('An alert names the channels that it was sent to, and those that hold it back', async (t) => {
  const alice = await newAlice();
  const phone = await insertChannel(ctx, alice.id, { name: 'Phone <b>' });
  const night = await insertChannel(ctx, alice.id, { name: 'Night', minIntervalMinutes: 60 });
  await alert(alice, await insertTask(ctx, alice.id, { channels: [phone, night] }), 'Late');
  const { text } = await visit(app, alice).open('/alerts');
  t.match(text, /Held by channel Night: quiet hours, minimum interval or digest/);
  t.match(text, /Waiting to be sent to channel Phone <b>/);
});

t.test('An alert is acknowledged in the list, which is one of the notifications', async (t) => {
  const alice = await newAlice();
  await alert(alice, await insertTask(ctx, alice.id, { name: 'News' }), 'News');
  const visitor = visit(app, alice);
  const notifications = await visitor.open('/notifications');
  const page = await visitor.follow(notifications, 'Alerts');
  t.match(page, { url: '/alerts', heading: 'Alerts' });
  const known = await visitor.submit(page, 'I know: Task "News" is overdue');
  t.match(known, { url: '/alerts', text: /It is listed again when it changes\./ });
  t.same(titlesOf(known), ['Task "News" is overdue known']);
  t.equal(known.document.querySelectorAll('main form').length, 0);
});
