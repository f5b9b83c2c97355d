import t from 'tap';
import { notifications } from '../../../../packages/db/src/index.ts';
import { notifyUsers } from '../../../api/src/product/notifications/write.ts';
import { START, testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { type Person, signUp } from '../../../api/test/support/people.ts';
import { SESSION_STATEMENTS, type ShownPage, visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
const HOSTILE = '"><script>alert(1)</script>{{7*7}}';
const WEBHOOK = '6f1c2a1e-4a3b-4c5d-8e9f-0a1b2c3d4e5f';
t.beforeEach(() => clock.set(START));

const newAlice = () => signUp(app, { name: 'Alice', timezone: 'Europe/Berlin' });
const notify = ({ id }: Person, titles: readonly string[], kind = 'usage.alert', path = '/usage') =>
  notifyUsers(
    ctx,
    titles.map((title) => ({ userId: id, kind, title, message: 'Most of it.', path, byMail: false })),
  );
const titlesOf = ({ document }: ShownPage) => document.querySelectorAll('main h3').map(({ text }) => text);
const unreadOf = ({ document }: ShownPage) => document.querySelector('#unread:not([hidden])')?.text ?? '';

t.test('A list without notifications says what appears there', async (t) => {
  const page = await visit(app, await newAlice()).open('/notifications');
  t.match(page, { status: 200, heading: 'Notifications', text: /All read\..*No notifications yet\./ });
  t.ok(page.document.querySelector('a[href="/usage#alerts"]'));
});

t.test('Notifications are listed newest first, by local day; unread ones say so in a word', async (t) => {
  const alice = await newAlice();
  await notify(alice, ['80 % of your tokens are used']);
  clock.advance(86_400_000);
  await notify(alice, [`The webhook to ${HOSTILE} failed`], 'webhook.failed', `/webhooks/${WEBHOOK}`);
  const page = await visit(app, alice).open('/notifications');
  t.same(titlesOf(page), [`The webhook to ${HOSTILE} failed new`, '80 % of your tokens are used new']);
  t.match(page.text, /2 unread.*Today ?11:00.*Most of it.*Fri 20 Nov ?11:00/);
  t.ok(page.document.querySelector(`a[href="/webhooks/${WEBHOOK}"]`));
  t.notOk(page.document.querySelector('main script'));
  t.match(unreadOf(page), /^2/);
});

t.test('Those from before their path was stored lead to the list of what they are about', async (t) => {
  const alice = await newAlice();
  for (const kind of ['task.failed', 'webhook.failed', 'usage.alert', 'scheduler.silent', 'of.another.time']) {
    await ctx.db
      .insert(notifications)
      .values({ userId: alice.id, kind, title: kind, message: 'Old.', path: null, createdAt: ctx.now() });
  }
  const page = await visit(app, alice).open('/notifications');
  t.same(
    page.document.querySelectorAll('.notes .do > a').map((link) => [link.getAttribute('href'), link.text]),
    [
      ['/admin', 'See administration: scheduler.silent'],
      ['/usage', 'See usage: usage.alert'],
      ['/webhooks', 'See webhooks: webhook.failed'],
      ['/tasks', 'See tasks: task.failed'],
    ],
  );
  t.equal(page.document.querySelector('.menu a[href="/alerts"]'), null, 'alerts are a part of this page');
  const alerts = await visit(app, alice).open('/alerts');
  t.ok(alerts.document.querySelector('.menu a[href="/notifications"][aria-current="page"]'));
});

t.test('One is marked as read, and leaves the unread ones', async (t) => {
  const alice = await newAlice();
  await notify(alice, ['First', 'Second']);
  const visitor = visit(app, alice);
  const page = await visitor.submit(await visitor.open('/notifications?show=unread'), 'Mark as read: First');
  t.match(page, { status: 200, url: '/notifications?show=unread' });
  t.same(titlesOf(page), ['Second new']);
  t.same(titlesOf(await visitor.open('/notifications')), ['Second new', 'First']);
  t.match(unreadOf(page), /^1/);
});

t.test('All are marked as read, except those that came after the page', async (t) => {
  const alice = await newAlice();
  await notify(alice, ['First', 'Second']);
  const visitor = visit(app, alice);
  const page = await visitor.open('/notifications');
  await notify(alice, ['Third']);
  const marked = await visitor.submit(page, 'Mark all as read');
  t.match(marked.text, /2 notifications are marked as read\./);
  t.same(titlesOf(marked), ['Third new', 'Second', 'First']);
  const none = await visitor.submit(marked, 'Mark all as read');
  t.equal(unreadOf(none), '');
  t.match(await visitor.open('/notifications?show=unread'), { text: /No unread notifications\./ });
});

t.test("A stranger's notifications are neither shown nor marked", async (t) => {
  const alice = await newAlice();
  const eve = await signUp(app, { name: 'Eve' });
  await notify(alice, ['For Alice']);
  await notify(eve, ['For Eve']);
  const visitor = visit(app, eve);
  const page = await visitor.open('/notifications');
  t.same(titlesOf(page), ['For Eve new']);
  const [form] = page.document.querySelectorAll('form[action$="/read"]');
  const own = Number(form?.getAttribute('action')?.split('/').at(-2));
  for (const id of [own - 1, 0, 2_147_483_648, 'abc']) {
    form?.setAttribute('action', `/notifications/${id}/read`);
    t.equal((await visitor.submit(page, 'Mark as read: For Eve')).status, 404, String(id));
  }
  await visitor.submit(page, 'Mark all as read', { until: '2147483647' });
  t.match(unreadOf(await visit(app, alice).open('/notifications')), /^1/);
});

t.test('A long list goes on at the next page, with few statements for each', async (t) => {
  const alice = await newAlice();
  await notify(
    alice,
    Array.from({ length: 60 }, (_, n) => `Number ${n}`),
  );
  const visitor = visit(app, alice);
  const seen: string[] = [];
  let url: string | undefined = '/notifications?show=unread';
  await visitor.open(url);
  while (url) {
    const count = countStatements(ctx.db);
    const page: ShownPage = await visitor.open(url);
    t.equal(count(), SESSION_STATEMENTS + 1);
    seen.push(...titlesOf(page));
    url = page.document.querySelector('a[rel=next]')?.getAttribute('href');
  }
  t.equal(new Set(seen).size, 60);
});

t.test('A notification leads to the thing itself', async (t) => {
  const alice = await newAlice();
  const paths = [
    '/tasks/7',
    '/executions/8',
    `/channels/${WEBHOOK}`,
    `/webhooks/${WEBHOOK}`,
    '/usage',
    '/alerts',
    '/admin',
  ];
  for (const path of paths) await notify(alice, ['A'], 'task.failed', path);
  await notify(alice, ['B'], 'task.failed', '//elsewhere.example');
  const { document } = await visit(app, alice).open('/notifications');
  const links = document.querySelectorAll('.notes .do > a').map((link) => [link.getAttribute('href'), link.text]);
  const texts = ['See task', 'See run', 'See channel', 'See webhook', 'See usage', 'See alerts', 'See administration'];
  t.same(links, paths.map((path, at) => [path, `${texts[at]}: A`]).reverse());
});
