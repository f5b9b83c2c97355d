import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { deliveries, deliveryAttempts, endpoints, tasks } from '../../../../packages/db/src/index.ts';
import { insertChannel } from '../../../api/test/support/channel-rows.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { readQueuedTokens } from '../../../api/test/support/mails.ts';
import { insertTask } from '../../../api/test/support/task-rows.ts';
import { readDeliveries, testWebhooks } from '../../../api/test/support/webhooks.ts';
import { SESSION_STATEMENTS, type ShownPage, visit } from '../support/visitor.ts';

const { app, ctx, clock, alice, bob, receiver, deliver } = await testWebhooks(t);
const visitor = visit(app, alice);
const HOSTILE = '"><script>alert(1)</script>{{7*7}}';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const NEW = '/channels/new?kind=ntfy';
const VALUES = { url: receiver.url, topic: 'shop', token: 's3cr3t-of-ntfy', name: 'My phone' };
const rowsOf = ({ document }: ShownPage) =>
  document.querySelectorAll('tbody tr').map((row) => row.text.replace(/\s+/g, ' ').trim());
const readChannel = async (id: string) =>
  (await ctx.db.select().from(endpoints).where(eq(endpoints.id, id)))[0] as typeof endpoints.$inferSelect;
const idOf = ({ url }: ShownPage) => url.split('/')[2] ?? '';

type Row = Partial<typeof deliveries.$inferInsert>;
/** A delivery of a channel that was not sent yet, or ended, as `row` says. */
async function insertMessage(webhookId: string, data: object, row: Row = {}): Promise<string> {
  const id = randomUUID();
  const event = row.event ?? 'execution.completed';
  const payload = JSON.stringify({ event, timestamp: ctx.now(), webhookId, data });
  const common = { id, webhookId, event, payload, requestId: 'r', createdAt: ctx.now() };
  const ends = row.nextAttemptAt ? {} : { endedAt: ctx.now(), status: 'delivered' as const };
  await ctx.db.insert(deliveries).values({ ...common, ...ends, ...row });
  return id;
}
const ofTask = (name: string) => ({ task: { id: 1, name }, execution: { id: 7, result: 'Fine.' } });

t.test('A list without channels explains them in a sentence and offers each kind', async (t) => {
  const page = await visitor.open('/channels');
  t.match(page, { status: 200, heading: 'Channels', text: /Get answers and alerts in chat/ });
  const offered = page.document.querySelectorAll('.cards a').map((link) => link.getAttribute('href'));
  const kinds = ['slack', 'mattermost', 'teams', 'discord', 'telegram', 'ntfy', 'apprise', 'email'];
  t.same(
    offered,
    kinds.map((kind) => `/channels/new?kind=${kind}`),
  );
  t.ok(page.document.querySelector('nav a[href="/channels"][aria-current="page"]'));
  for (const href of offered) {
    const form = await visitor.open(href ?? '');
    t.match(form, { status: 200, heading: /^New channel: / });
    t.ok(form.document.querySelectorAll('ol.numbered li').length >= 3, String(href));
  }
  t.match(await visitor.open('/channels/new?kind=pigeon'), { status: 200, heading: 'New channel' });
});

t.test('A channel is created by its form, once, and its secret is shown nowhere', async (t) => {
  const form = await visitor.open(NEW);
  const input = form.document.querySelector('input[name=token]');
  t.match(input?.attributes, { type: 'password', autocomplete: 'off' });
  const values = { ...VALUES, quietFrom: '22:00', quietTo: '07:00', minIntervalMinutes: '10', urgent: 'on' };
  const page = await visitor.submit(form, 'Create channel', values);
  t.match(page, { status: 200, heading: 'My phone', text: /The channel is created\. Send a test/ });
  t.match(
    page.text,
    /at most one message every 10 minutes ?Quiet hours ?22:00 to 07:00, UTC time ?Alerts ?sent immediately/,
  );
  t.match(await readChannel(idOf(page)), { kind: 'ntfy', quiet: { from: '22:00', timezone: 'UTC' }, urgent: true });
  const again = await visitor.submit(form, 'Create channel', values);
  t.match(again, { url: page.url, text: /This form was already sent: the channel exists\./ });
  for (const path of ['/channels', page.url, `${page.url}/edit`, `${page.url}/delete`]) {
    t.notMatch((await visitor.open(path)).response.body, /s3cr3t/, path);
  }
});

t.test('A refused form says what is wrong at the field, and keeps what was typed but secrets', async (t) => {
  const typed = { ...VALUES, url: 'ftp://example.com', name: HOSTILE, quietFrom: '22:00', minIntervalMinutes: '-1' };
  const page = await visitor.submit(await visitor.open(NEW), 'Create channel', typed);
  t.match(page, { status: 422, heading: 'New channel: ntfy', text: /Enter secrets again/ });
  for (const name of ['url', 'quietTo', 'minIntervalMinutes']) {
    const input = page.document.querySelector(`input[name=${name}]`);
    t.equal(input?.getAttribute('aria-invalid'), 'true', name);
    t.ok(page.document.querySelector(`#${name}-error`)?.text.trim(), name);
  }
  t.ok(page.document.querySelector('details#quiet')?.hasAttribute('open'));
  t.equal(page.document.querySelector('input[name=name]')?.getAttribute('value'), HOSTILE);
  t.notOk(page.document.querySelector('main script'));
  t.notMatch(page.response.body, /s3cr3t/);
});

t.test('The 21st channel is refused in the form', async (t) => {
  await Promise.all(Array.from({ length: 20 }, () => insertChannel(ctx, alice.id)));
  const page = await visitor.submit(await visitor.open(NEW), 'Create channel', VALUES);
  t.match(page, { status: 402, heading: 'New channel: ntfy', text: /channels/ });
});

t.test('A test says what the target answered, and its attempt is listed', async (t) => {
  const page = await visitor.submit(await visitor.open(NEW), 'Create channel', VALUES);
  const tested = await visitor.submit(page, 'Send a test');
  t.match(tested, { status: 200, url: page.url, text: /Test delivered: the receiver answered 200 in \d+ ms\./ });
  t.match(rowsOf(tested), [/^Test ?Today at 10:00 ?Delivered ?Answered 200 in \d+ ms$/]);
  receiver.answer(500);
  const failed = await visitor.submit(tested, 'Send a test');
  t.match(failed.text, /Test not delivered\. \S/);
  t.equal(rowsOf(failed).length, 2);
});

t.test('Messages are listed by their titles with each attempt, and are sent again', async (t) => {
  const created = await visitor.submit(await visitor.open(NEW), 'Create channel', VALUES);
  const id = idOf(created);
  const task = await insertTask(ctx, alice.id, { name: 'Morning news', channels: [id] });
  const message = await insertMessage(id, ofTask('Morning news'), { status: 'failed', attempt: 2 });
  const attempt = { deliveryId: message, webhookId: id, event: 'execution.completed', url: '', responseTimeMs: 5 };
  await ctx.db.insert(deliveryAttempts).values(
    [500, 502].map((statusCode, at) => ({
      ...attempt,
      id: randomUUID(),
      attempt: at + 1,
      success: false,
      statusCode,
      error: `The target answered ${statusCode}.`,
      attemptedAt: new Date(ctx.now().getTime() + at * 60_000),
    })),
  );
  const page = await visitor.open(`/channels/${id}`);
  t.match(rowsOf(page), [
    /^Morning news ?Today at 10:00 ?Failed ?Answered 502 in 5 ms ?1 earlier attempt 10:00:00 · Answered 500 in 5 ms ?Send again/,
  ]);
  t.equal(page.document.querySelector('tbody th a')?.getAttribute('href'), '/executions/7');
  t.ok(page.document.querySelector(`aside a[href="/tasks/${task}"]`));
  const sent = await visitor.submit(page, 'Send again: Morning news');
  t.match(sent.text, /The message is sent now\./);
  await deliver();
  t.equal((await readDeliveries(ctx, id))[0]?.status, 'delivered');
  t.match(await rowsOf(await visitor.open('/channels')), [/^My phone ?ntfy, shop ?On.*Delivered.*Morning news$/]);
});

t.test('Messages that were held back, or sent as one, say so', async (t) => {
  const id = await insertChannel(ctx, alice.id);
  const digestId = await insertMessage(
    id,
    { messages: ['News', 'Prices'].map((name) => ({ event: 'execution.completed', data: ofTask(name) })) },
    { event: 'digest' },
  );
  await insertMessage(id, ofTask('News'), { status: 'digested', digestId });
  const until = new Date(ctx.now().getTime() + 3 * 3_600_000);
  await insertMessage(id, ofTask('Later'), { status: 'held', nextAttemptAt: until });
  const page = await visitor.open(`/channels/${id}`);
  t.match(rowsOf(page).sort(), [
    /^Digest ?2 messages ?News ?Prices ?Today at 10:00 ?Delivered/,
    /^Later ?Today at 10:00 ?Held ?held until today at 13:00 ?Send now/,
    /^News ?Today at 10:00 ?In a digest ?sent in a digest today at 10:00$/,
  ]);
  t.match(page.text, /Held: quiet hours.*In a digest: the message was sent together/);
});

t.test('A channel that has failed says why on its page and at home, and is switched on', async (t) => {
  const id = await insertChannel(ctx, alice.id, { status: 'failed', name: 'My phone' });
  const home = await visitor.open('/');
  t.match(home.document.querySelector('.needs p')?.text, 'Channel My phone is off: ntfy rejected a message.');
  t.ok(home.document.querySelector(`.needs a.button[href="/channels/${id}"]`));
  const page = await visitor.open(`/channels/${id}`);
  t.match(page.text, /Off, failed.*The channel is off: ntfy rejected a message/);
  const on = await visitor.submit(page, 'Switch on');
  t.match(on.text, /The channel is on\./);
  const off = await visitor.submit(on, 'Switch off');
  t.match(off.text, /The channel is off\. Messages are not queued while it is off\..*Switch on/);
  t.equal((await readChannel(id)).status, 'inactive');
});

t.test('An edit keeps the secret and saves the rest; of two people the second sees both versions', async (t) => {
  const created = await visitor.submit(await visitor.open(NEW), 'Create channel', VALUES);
  const id = idOf(created);
  const { secretEncrypted } = await readChannel(id);
  const [mine, theirs] = [await visitor.open(`/channels/${id}/edit`), await visitor.open(`/channels/${id}/edit`)];
  t.match(mine.text, /Stored\. Leave it empty to keep it\./);
  const saved = await visitor.submit(theirs, 'Save channel', { name: 'Theirs' });
  t.match(saved, { url: `/channels/${id}`, heading: 'Theirs', text: /The channel is saved\./ });
  t.equal((await readChannel(id)).secretEncrypted, secretEncrypted);
  const conflict = await visitor.submit(mine, 'Save channel', { name: 'Mine', token: 's3cr3t' });
  t.match(conflict, { status: 409, text: /This channel was changed.*Saved version/ });
  t.notMatch(conflict.response.body, /s3cr3t/);
  t.equal(conflict.document.querySelector('input[name=name]')?.getAttribute('value'), 'Mine');
  await visitor.submit(conflict, 'Save channel');
  t.equal((await readChannel(id)).name, 'Mine');
});

t.test('A mailbox waits for its link, which can be sent again', async (t) => {
  const form = await visitor.open('/channels/new?kind=email');
  const address = 'team@example.com';
  const values = { address, name: 'Team', digest: 'daily', digestHour: '6' };
  const page = await visitor.submit(form, 'Create channel', values);
  t.match(
    page.text,
    /We sent a confirmation link to its address.*The address is not confirmed.*link to team@example\.com/,
  );
  t.match(page.text, /Daily digest at 06:00/);
  t.notOk(page.document.querySelectorAll('button').some(({ text }) => text === 'Send a test'));
  t.match(rowsOf(await visitor.open('/channels')), [/^Team ?E-mail, team@example\.com ?Not confirmed/]);
  clock.advance(60_000);
  const again = await visitor.submit(page, 'Send link again');
  t.match(again, { url: page.url, text: /We sent another link/ });
  const tokens = await readQueuedTokens(ctx, address);
  t.equal(tokens.length, 2);
  const [ended, token] = tokens;
  t.match((await visitor.open(`/handler/confirm-email/${ended}`)).text, /This link does not work/);
  const confirm = await visitor.open(`/handler/confirm-email/${token}`);
  await visitor.submit(confirm, confirm.document.querySelector('main button')?.text ?? '');
  const confirmed = await visitor.open(page.url);
  t.ok(confirmed.document.querySelectorAll('button').some(({ text }) => text === 'Send a test'));
});

t.test('A channel is deleted after a confirmation that names who uses it', async (t) => {
  const id = await insertChannel(ctx, alice.id, { name: HOSTILE });
  const task = await insertTask(ctx, alice.id, { channels: [id] });
  const form = await visitor.open(`/channels/${id}/delete`);
  t.match(form, { heading: 'Delete this channel?', text: /In use: 1 task will lose this channel/ });
  t.notOk(form.document.querySelector('main script'));
  t.match(await visitor.submit(form, 'Delete channel'), { url: '/channels', text: /The channel is deleted\./ });
  t.equal((await visitor.open(`/channels/${id}`)).status, 404);
  t.same((await ctx.db.select().from(tasks).where(eq(tasks.id, task)))[0]?.channels, []);
});

t.test("A stranger's channel, a webhook and what cannot be a channel are not found", async (t) => {
  const id = await insertChannel(ctx, alice.id);
  const own = await insertChannel(ctx, bob.id);
  const stranger = visit(app, bob);
  for (const path of ['', '/edit', '/delete']) {
    t.equal((await stranger.open(`/channels/${id}${path}`)).status, 404, path);
  }
  for (const path of ['abc', UNKNOWN, '%00']) t.equal((await visitor.open(`/channels/${path}`)).status, 404, path);
  t.equal((await visitor.open(`/webhooks/${id}`)).status, 404);
  const page = await stranger.open(`/channels/${own}`);
  for (const button of ['Send a test', 'Switch off']) {
    const form = page.document.querySelectorAll('form').find((one) => one.text.trim() === button);
    form?.setAttribute('action', form.getAttribute('action')?.replace(own, id) ?? '');
    t.equal((await stranger.submit(page, button)).status, 404, button);
  }
  t.equal((await readChannel(id)).status, 'active');
});

t.test('Each page of channels is read with few statements, however many there are', async (t) => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => insertChannel(ctx, alice.id)));
  const [id = ''] = ids;
  for (let n = 0; n < 30; n++) {
    await insertMessage(id, ofTask(`Task ${n}`));
    await insertTask(ctx, alice.id, { channels: ids.slice(0, 10) });
  }
  for (const [path, most] of [
    ['/channels', 2],
    ['/channels/new?kind=ntfy', 1],
    [`/channels/${id}`, 3],
    [`/channels/${id}/edit`, 2],
  ] as const) {
    await visitor.open(path);
    const count = countStatements(ctx.db);
    const page = await visitor.open(path);
    t.equal(page.status, 200);
    t.equal(count(), SESSION_STATEMENTS + most - 1, path);
  }
  const first = await visitor.open(`/channels/${id}`);
  t.match(first.text, /and 25 more tasks/);
  const next = first.document.querySelector('a[rel=next]')?.getAttribute('href') ?? '';
  t.equal(rowsOf(first).length + rowsOf(await visitor.open(next.replaceAll('&amp;', '&'))).length, 30);
});
