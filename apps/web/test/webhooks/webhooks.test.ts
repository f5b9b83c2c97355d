import { eq } from 'drizzle-orm';
import t from 'tap';
import { endpoints } from '../../../../packages/db/src/index.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { postTask } from '../../../api/test/support/tasks.ts';
import {
  insertWebhooks,
  postWebhook,
  readDeliveries,
  readWebhook,
  recordManyEvents,
  testWebhooks,
} from '../../../api/test/support/webhooks.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';

const { app, ctx, clock, alice, bob, receiver, deliver } = await testWebhooks(t);
const visitor = visit(app, alice);
const HOSTILE = '"><script>alert(1)</script>{{7*7}}';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const rowsOf = async (url: string) =>
  (await visitor.open(url)).document.querySelectorAll('tbody tr').map((row) => row.text.replace(/\s+/g, ' ').trim());

t.test('A list without webhooks says what they do and how to begin', async (t) => {
  const page = await visitor.open('/webhooks');
  t.match(page, { status: 200, heading: 'Webhooks', text: /No webhooks yet/ });
  t.ok(page.document.querySelector('main a[href="/webhooks/new"]'));
});

t.test('A webhook is created by its form, and its secret is shown in the answer alone', async (t) => {
  const form = await visitor.open('/webhooks/new');
  const url = `${receiver.url}/hook`;
  const values = { url, description: 'Posts to #shop-ops', events: ['task.created', 'usage.alert'] };
  const page = await visitor.submit(form, 'Create webhook', values);
  t.match(page, { status: 200, url: '/webhooks/new', heading: 'Webhook created' });
  const secret = page.document.querySelector('pre.secret')?.text ?? '';
  t.match(secret, /^whsec_\w{32}$/);
  t.match(page.text, new RegExp(`/api/webhooks/${alice.id}/${secret}`));
  t.equal(page.response.headers['cache-control'], 'no-store');
  t.notMatch(JSON.stringify([page.response.headers, ...visitor.cookies.values()]), secret);
  const again = await visitor.submit(form, 'Create webhook', values);
  t.match(again, { status: 409, heading: 'Already created', text: /Its secret is not shown again/ });
  t.notMatch(again.response.body, secret);
  const [row] = await rowsOf('/webhooks');
  t.match(row, /^Posts to #shop-ops127\.0\.0\.1:\d+ ?On ?nothing sent yet ?– ?Task created, usage alert$/);
  const shown = await visitor.open(again.document.querySelector('main a.primary')?.getAttribute('href') ?? '');
  t.match(shown, { status: 200, text: /No deliveries yet/ });
  t.notMatch(shown.response.body, secret);
});

t.test('A refused form says what is wrong at the field and keeps what was typed', async (t) => {
  const form = await visitor.open('/webhooks/new');
  const typed = { url: 'ftp://files.example.com', events: [], description: HOSTILE };
  const page = await visitor.submit(form, 'Create webhook', typed);
  t.match(page, { status: 422, heading: 'New webhook', text: /Select at least one event/ });
  const input = page.document.querySelector('input[name=url]');
  t.match(input?.attributes, { value: typed.url, 'aria-invalid': 'true', 'aria-describedby': 'url-hint url-error' });
  t.equal(page.document.querySelector('input[name=description]')?.getAttribute('value'), HOSTILE);
  t.notOk(page.document.querySelector('main script'));
  const metadata = { ...typed, url: 'http://169.254.169.254/latest', events: ['task.created'] };
  t.match(await visitor.submit(form, 'Create webhook', metadata), { status: 422, text: /url|address|public/ });
});

t.test('A plan that allows no more webhooks is named in the form', async (t) => {
  await insertWebhooks(ctx, alice.id, ['https://a.example', 'https://b.example', 'https://c.example']);
  const page = await visitor.submit(await visitor.open('/webhooks/new'), 'Create webhook', {
    url: 'https://hooks.example.com/4',
  });
  t.match(page, { status: 402, heading: 'New webhook', text: /webhooks/ });
  t.equal(page.document.querySelector('input[name=url]')?.getAttribute('value'), 'https://hooks.example.com/4');
});

t.test('Deliveries are listed with each attempt, its answer and its body', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  receiver.answer(503);
  await postTask(app, alice, { name: HOSTILE.slice(0, 90) });
  await deliver();
  clock.advance(60_000);
  receiver.answer(204);
  await deliver();
  const page = await visitor.open(`/webhooks/${id}`);
  t.match(
    page.text,
    /Task created ?Today at 10:00 ?Delivered late ?Answered 204 in \d+ ms ?1 earlier attempt 10:00:00 · Answered 503/,
  );
  t.equal(page.document.querySelector('svg.strip')?.getAttribute('aria-label'), 'Last 1 delivery: 1 delivered late');
  const delivery = await visitor.open(page.document.querySelector('tbody th a')?.getAttribute('href') ?? '');
  t.match(delivery, { status: 200, heading: 'Task created, today at 10:00' });
  t.match(delivery.text, /10:00:00 ?Attempt 1: Answered 503 in \d+ ms ?10:01:00 ?Attempt 2: Answered 204/);
  t.match(JSON.parse(delivery.document.querySelector('pre')?.text ?? ''), {
    event: 'task.created',
    data: { task: { name: HOSTILE } },
  });
  t.notOk(delivery.document.querySelector('main script'));
});

t.test('A delivery is sent again with the same body', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await postTask(app, alice);
  await deliver();
  const page = await visitor.submit(await visitor.open(`/webhooks/${id}`), 'Send again: Task created');
  t.match(page, { status: 200, heading: 'Task created, today at 10:00', text: /It is sent again now/ });
  await deliver();
  const [first, second] = receiver.received;
  t.equal(second?.body.toString(), first?.body.toString());
});

t.test('A webhook that has failed says why, is switched on, and sends again what failed since a day', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  receiver.answer(502);
  await recordManyEvents(ctx, alice.id, 3, 'task.created');
  for (const minutes of [0, 1, 5, 15, 60]) {
    clock.advance(minutes * 60_000);
    await deliver();
  }
  const off = await visitor.open(`/webhooks/${id}`);
  t.match(
    off.text,
    /Off, failed.*every attempt of a delivery failed.*Last attempt today at \d\d:\d\d: The receiver answered 502\./,
  );
  const refused = await visitor.open(`/webhooks/${id}/redeliver`);
  t.ok(refused.document.querySelector('button.primary')?.hasAttribute('disabled'));
  const on = await visitor.submit(off, 'Switch on');
  t.match(on.text, /The webhook is on\./);
  receiver.answer(200);
  const form = await visitor.open(`/webhooks/${id}/redeliver`);
  t.match(await visitor.submit(form, 'Send again', { day: 'soon' }), { status: 422, text: /must be a day/ });
  t.match(await visitor.submit(form, 'Send again', { day: '2026-11-21' }), {
    text: /No delivery has failed since/,
  });
  t.match((await visitor.submit(form, 'Send again', { day: '2026-11-20' })).text, /3 deliveries are sent again/);
  await deliver();
  t.same(
    (await readDeliveries(ctx, id)).map(({ status }) => status),
    ['delivered', 'delivered', 'delivered'],
  );
});

t.test('A webhook that is off says how many deliveries from before will be sent', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await postTask(app, alice);
  const off = await visitor.submit(await visitor.open(`/webhooks/${id}`), 'Switch off');
  t.match(off.text, /The webhook is off\. Events are not queued while it is off\./);
  t.match(off.text, /1 delivery from before is sent when you switch it on/);
  t.notOk(off.document.querySelectorAll('button').some(({ text }) => text.startsWith('Send now')));
  await deliver();
  t.equal(receiver.received.length, 0);
  await visitor.submit(off, 'Switch on');
  await deliver();
  t.equal(receiver.received.length, 1);
});

t.test('A test says what the receiver answered', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  const page = await visitor.submit(await visitor.open(`/webhooks/${id}`), 'Send a test');
  t.match(page, { status: 200, url: `/webhooks/${id}`, text: /Test delivered: the receiver answered 200 in \d+ ms\./ });
  receiver.answer(500);
  t.match(await visitor.submit(page, 'Send a test'), {
    text: /Test not delivered\. The receiver answered 500\./,
  });
});

t.test('An edit is saved; of two people the second sees both versions and decides', async (t) => {
  const { id } = await postWebhook(app, alice);
  const [mine, theirs] = [await visitor.open(`/webhooks/${id}/edit`), await visitor.open(`/webhooks/${id}/edit`)];
  const saved = await visitor.submit(theirs, 'Save webhook', { description: 'Theirs', events: ['task.failed'] });
  t.match(saved, { url: `/webhooks/${id}`, text: /The webhook is saved\./ });
  const conflict = await visitor.submit(mine, 'Save webhook', { description: 'Mine' });
  t.match(conflict, {
    status: 409,
    text: /This webhook was changed.*Saved version.*Run failed \(not inbound\).*Theirs/,
  });
  t.equal(conflict.document.querySelector('input[name=description]')?.getAttribute('value'), 'Mine');
  t.equal((await readWebhook(app, alice, id)).description, 'Theirs');
  await visitor.submit(conflict, 'Save webhook');
  t.match(await readWebhook(app, alice, id), { description: 'Mine', events: ['task.created', 'task.updated'] });
});

t.test('A secret is rotated once by a form, and the new one is shown in the answer alone', async (t) => {
  const { id, secret } = await postWebhook(app, alice, { url: receiver.url });
  const form = await visitor.open(`/webhooks/${id}/rotate`);
  const page = await visitor.submit(form, 'Rotate secret');
  const rotated = page.document.querySelector('pre.secret')?.text;
  t.match(page, { status: 200, heading: 'New secret' });
  t.not(rotated, secret);
  const again = await visitor.submit(form, 'Rotate secret');
  t.match(again, { status: 409, heading: 'Already rotated' });
  const test = await visitor.submit(await visitor.open(`/webhooks/${id}`), 'Send a test');
  t.match(test.text, /The previous one also signs until tomorrow at 10:00/);
});

t.test('A webhook is deleted after a confirmation', async (t) => {
  const { id } = await postWebhook(app, alice);
  const form = await visitor.open(`/webhooks/${id}/delete`);
  t.match(form, { heading: 'Delete this webhook?', text: /Nothing more is sent to hooks\.example\.com/ });
  t.match(await visitor.submit(form, 'Delete webhook'), { url: '/webhooks', text: /The webhook is deleted\./ });
  t.equal((await visitor.open(`/webhooks/${id}`)).status, 404);
});

t.test('The webhook of a task says so, and is edited with its task', async (t) => {
  const task = await postTask(app, alice, { name: 'Morning news', webhookUrl: 'https://hooks.example.com/task' });
  const { document, text } = await visitor.open('/webhooks');
  t.match(text, /hooks\.example\.com ?Task Morning news/);
  const id = document.querySelector('tbody th a')?.getAttribute('href')?.split('/').at(-1) ?? '';
  const page = await visitor.open(`/webhooks/${id}`);
  t.ok(page.document.querySelector(`a[href="/tasks/${task}/edit"]`));
  t.notOk(page.document.querySelector(`a[href$="/delete"]`));
  t.match(await visitor.open(`/webhooks/${id}/edit`), { status: 200, text: /belongs to a task/ });
  t.match(await visitor.submit(page, 'Switch off'), { text: /The webhook is off\./ });
});

t.test("A stranger's webhook and what cannot be one are not found", async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await postTask(app, alice);
  await deliver();
  const [delivery] = await readDeliveries(ctx, id);
  const stranger = visit(app, bob);
  const pages = ['', '/edit', '/rotate', '/delete', '/redeliver', `/deliveries/${delivery?.id}`];
  for (const path of pages) t.equal((await stranger.open(`/webhooks/${id}${path}`)).status, 404, path);
  for (const path of ['abc', UNKNOWN, '%00', `${id}/deliveries/${UNKNOWN}`]) {
    t.equal((await visitor.open(`/webhooks/${path}`)).status, 404, path);
  }
  const shown = await visitor.open(`/webhooks/${id}`);
  const own = await postWebhook(app, bob);
  const bobs = await stranger.open(`/webhooks/${own.id}`);
  for (const button of ['Send a test', 'Switch off']) {
    const form = bobs.document.querySelectorAll('form').find((one) => one.text.trim() === button);
    form?.setAttribute('action', form.getAttribute('action')?.replace(own.id, id) ?? '');
    t.equal((await stranger.submit(bobs, button)).status, 404, button);
  }
  t.equal((await readWebhook(app, alice, id)).isActive, true);
  t.equal(shown.status, 200);
});

t.test('Hostile addresses and descriptions stay text, and long ones fit', async (t) => {
  const url = `https://hooks.example.com/${'x'.repeat(1500)}?${encodeURIComponent(HOSTILE)}`;
  const [{ id } = { id: '' }] = await insertWebhooks(ctx, alice.id, [url], { description: `\u202E${HOSTILE}` });
  for (const path of ['/webhooks', `/webhooks/${id}`, `/webhooks/${id}/edit`, `/webhooks/${id}/delete`]) {
    const { status, document } = await visitor.open(path);
    t.equal(status, 200, path);
    t.notOk(document.querySelector('main script'), path);
  }
});

t.test('Each page of webhooks is read with few statements, however many there are', async (t) => {
  await insertWebhooks(
    ctx,
    alice.id,
    Array.from({ length: 60 }, (_, n) => `https://hooks.example.com/${n}`),
  );
  const { id } = await postWebhook(app, bob, { url: receiver.url });
  await recordManyEvents(ctx, bob.id, 60, 'task.created');
  await deliver();
  const [delivery] = await readDeliveries(ctx, id);
  const stranger = visit(app, bob);
  for (const [who, path, most] of [
    [visitor, '/webhooks', 2],
    [stranger, `/webhooks/${id}`, 3],
    [stranger, `/webhooks/${id}/deliveries/${delivery?.id}`, 2],
  ] as const) {
    await who.open(path);
    const count = countStatements(ctx.db);
    t.equal((await who.open(path)).status, 200);
    t.equal(count(), SESSION_STATEMENTS + most - 1, path);
  }
});

t.test('Long lists go on at the next page, each row once', async (t) => {
  await insertWebhooks(
    ctx,
    alice.id,
    Array.from({ length: 60 }, (_, n) => `https://h${n}.example.com/`),
  );
  const seen: (string | undefined)[] = [];
  let url: string | undefined = '/webhooks';
  while (url) {
    const { document } = await visitor.open(url);
    seen.push(...document.querySelectorAll('tbody th a').map((link) => link.getAttribute('href')));
    url = document.querySelector('a[rel=next]')?.getAttribute('href');
  }
  t.equal(new Set(seen).size, 60);
  t.equal(seen.length, 60);
  t.equal((await visitor.open('/webhooks?cursor=abc')).status, 400);
});

t.test('Two webhooks of one host are told apart by their descriptions on every page', async (t) => {
  const url = `${receiver.url}/twin`;
  const shop = await postWebhook(app, alice, { url, events: ['task.created'], description: 'Shop' });
  await postWebhook(app, alice, { url, events: ['task.created'], description: 'Office' });
  const { host } = new URL(url);
  const names = (await visitor.open('/webhooks')).document.querySelectorAll('tbody th').map((head) => head.text);
  t.ok(names.includes(`Shop${host}`));
  t.ok(names.includes(`Office${host}`));
  t.match((await visitor.open(`/webhooks/${shop.id}`)).heading, /Shop/);
  for (const path of ['edit', 'rotate', 'redeliver', 'delete']) {
    const page = await visitor.open(`/webhooks/${shop.id}/${path}`);
    t.equal(page.document.querySelector('.crumb')?.text, 'Shop', path);
  }
  await ctx.db.update(endpoints).set({ status: 'failed' }).where(eq(endpoints.id, shop.id));
  t.match((await visitor.open('/')).text, /Webhook Shop is off/);
});
