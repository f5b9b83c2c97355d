import t from 'tap';
import { insertChannel } from '../../../api/test/support/channel-rows.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { SESSION_STATEMENTS, type ShownPage, visit } from '../support/visitor.ts';
import { createReader } from './read-form.ts';

const { app, ctx } = await testContext(t);
const alice = await signUp(app);
const bob = await signUp(app, { name: 'Bob' });
const { get, findTask } = createReader(app, alice);
const alices = visit(app, alice);

const PROMPT = 'What does the bin cost today?';
const readTask = async (id: number) => (await get(`/api/tasks/${id}`)).task;
const findBoxes = ({ document }: ShownPage) => document.querySelectorAll('input[name=channels]');
const findChosen = (page: ShownPage) => findBoxes(page).filter((box) => box.hasAttribute('checked'));

t.test('An account without channels gets a link to add one', async (t) => {
  const page = await alices.open('/tasks/new');
  t.equal(findBoxes(page).length, 0);
  t.equal(page.document.querySelector('#channels a')?.getAttribute('href'), '/channels/new');
});

t.test('The channels of the account are chosen, kept, copied, shown and removed', async (t) => {
  const phone = await insertChannel(ctx, alice.id, { name: 'Phone <b>' });
  const team = await insertChannel(ctx, alice.id, { name: 'Team', kind: 'slack', createdAt: new Date('2026-11-30') });
  const foreign = await insertChannel(ctx, bob.id, { name: 'Of Bob' });
  const statements = countStatements(ctx.db);
  const page = await alices.open('/tasks/new');
  t.equal(statements(), SESSION_STATEMENTS + 2, 'session, settings, and files with channels');
  t.match(page.text, /Channels ?Phone <b>ntfy ?TeamSlack/);
  t.notMatch(page.response.body, foreign);
  t.equal(findChosen(page).length, 0);
  t.notOk(page.document.querySelector('#tell[open]'));

  const saved = await alices.submit(page, 'Save task', { name: 'Bin', prompt: PROMPT, channels: [phone, team] });
  const { id } = await findTask('Bin');
  t.same((await readTask(id)).channels, [phone, team]);
  t.match(saved.text, /Channels ?Phone <b>ntfy ?TeamSlack/);
  t.ok(saved.document.querySelector(`main dd a[href="/channels/${team}"]`));

  const edit = await alices.open(`/tasks/${id}/edit`);
  t.match(edit.text, /Notifications Phone <b> · Team/);
  t.equal(findChosen(edit).length, 2);
  await alices.submit(edit, 'Save task', { description: 'Daily' });
  t.same((await readTask(id)).channels, [phone, team]);

  const copy = await alices.submit(saved, 'Duplicate');
  t.equal(findChosen(copy).length, 2);
  const copied = await findTask('Bin (copy)');
  t.match(copied, { status: 'paused', nextExecutionAt: null }, 'a copy runs only once its owner resumes it');

  await alices.submit(await alices.open(`/tasks/${id}/edit`), 'Save task', { channels: [] });
  t.same((await readTask(id)).channels, []);
});

t.test('Channels that get nothing are marked', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  const own = { kind: 'email', createdAt: new Date('2026-12-01') } as const;
  await insertChannel(ctx, carol.id, { name: 'Off', status: 'inactive' });
  await insertChannel(ctx, carol.id, { name: 'Broken', status: 'failed', createdAt: new Date('2026-11-30') });
  await insertChannel(ctx, carol.id, { ...own, name: 'Box', shownSettings: { address: 'team@example.com' } });
  const { text } = await visit(app, carol).open('/tasks/new');
  t.match(text, /Off ?ntfy, off.*Broken ?ntfy, off after a failure.*Box ?E-mail, not confirmed/);
});

t.test('More than 10 channels, and one that does not exist any more, are errors at the boxes', async (t) => {
  const dora = await signUp(app, { name: 'Dora' });
  const ids = await Promise.all(Array.from({ length: 11 }, () => insertChannel(ctx, dora.id)));
  const doras = visit(app, dora);
  const page = await doras.open('/tasks/new');
  const many = await doras.submit(page, 'Save task', { name: 'Many', prompt: PROMPT, channels: ids });
  t.equal(many.status, 422);
  t.match(many.document.querySelector('#channels-error')?.text, /^Channels must .* 10/);
  t.equal(findChosen(many).length, 11);
  const gone = [ids[0] ?? '', '00000000-0000-4000-8000-000000000000'];
  const stale = await doras.submit(page, 'Save task', { name: 'Stale', prompt: PROMPT, channels: gone });
  t.match(stale.document.querySelector('#channels-error')?.text, 'One of the channels was deleted');
  const { total } = (await app.inject({ url: '/api/tasks', headers: dora.headers })).json().pagination;
  t.equal(total, 0);
});

t.test('Two versions of a task name the channels in which they differ', async (t) => {
  const [channel] = (await alices.open('/tasks/new')).document.querySelectorAll('input[name=channels]');
  const page = await alices.open('/tasks/new');
  await alices.submit(page, 'Save task', { name: 'Shared', prompt: PROMPT });
  const { id } = await findTask('Shared');
  const mine = await alices.open(`/tasks/${id}/edit`);
  await alices.submit(await alices.open(`/tasks/${id}/edit`), 'Save task', {
    channels: channel?.getAttribute('value') ?? '',
  });
  const conflict = await alices.submit(mine, 'Save task', { description: 'mine' });
  t.match(conflict, { status: 409, text: /Channels ?empty ?Phone <b>/ });
});

t.test('The settings choose the channels of the account', async (t) => {
  const erin = await signUp(app, { name: 'Erin' });
  const phone = await insertChannel(ctx, erin.id);
  const erins = visit(app, erin);
  const findForm = (page: ShownPage) => page.document.querySelectorAll('#notifications input[name=channels]');
  const submit = async (channels: string[]) => {
    const page = await erins.open('/settings/notifications');
    const [box] = findForm(page);
    t.equal(box?.getAttribute('value'), phone);
    const form = box?.closest('form');
    for (const other of page.document.querySelectorAll('form')) if (other !== form) other.remove();
    return erins.submit(page, 'Save', { channels });
  };
  const readChannels = async () =>
    (await app.inject({ url: '/api/user/settings', headers: erin.headers })).json().settings.channels;
  await submit([phone]);
  t.same(await readChannels(), [phone]);
  t.ok(findForm(await erins.open('/settings/notifications'))[0]?.hasAttribute('checked'));
  const gone = await submit([phone, '00000000-0000-4000-8000-000000000000']);
  t.match(gone, { status: 422, text: /One of these channels no longer exists/ });
  await submit([]);
  t.same(await readChannels(), []);
});
