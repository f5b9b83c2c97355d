import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { PASSWORD, signUp } from '../../../api/test/support/people.ts';
import { insertTask } from '../../../api/test/support/task-rows.ts';
import { SESSION_STATEMENTS, type ShownPage, type Visitor, visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUp(app);
const alices = visit(app, alice);
const task = await insertTask(ctx, alice.id, { name: 'News' });

const readAddress = ({ document }: ShownPage) => document.querySelector('pre.secret')?.text ?? '';
const readFeed = (address: string) => app.inject({ url: new URL(address).pathname });
const submit = async (visitor: Visitor, url: string, button: string) => visitor.submit(await visitor.open(url), button);

for (const [name, url, expected] of [
  ['a task', `/tasks/${task}`, SESSION_STATEMENTS + 2],
  ['the account', '/settings/data', SESSION_STATEMENTS + 1],
] as const) {
  t.test(`The feed of ${name} is created, replaced and ended, and its address shown once`, async (t) => {
    const created = await submit(alices, url, 'Create feed');
    t.match(created, { status: 200, heading: 'The feed is on', url: `${url}/feed` });
    const address = readAddress(created);
    t.equal((await readFeed(address)).statusCode, 200);
    t.match(created.response.headers, { 'cache-control': /no-store/, 'referrer-policy': /same-origin|no-referrer/ });

    const statements = countStatements(ctx.db);
    const page = await alices.open(url);
    t.equal(statements(), expected);
    t.match(page.text, /On since (Today|20 Nov|Fri 20 Nov)/);
    t.notMatch(page.response.body, '.atom');

    const replaced = await alices.submit(page, 'Replace feed URL');
    t.equal((await readFeed(address)).statusCode, 404);
    t.equal((await readFeed(readAddress(replaced))).statusCode, 200);

    const before = await alices.open(url);
    const ended = await alices.submit(before, 'End feed');
    t.match(ended, { url, text: /The feed has ended\./ });
    t.equal((await readFeed(readAddress(replaced))).statusCode, 404);
    t.equal((await alices.submit(before, 'End feed')).url, url, 'a second click is no error');
  });
}

t.test("A stranger's task gets no feed", async (t) => {
  const page = await alices.open(`/tasks/${task}`);
  const bobs = visit(app, await signUp(app, { name: 'Bob' }));
  const form = await bobs.open('/settings/data');
  t.equal((await bobs.submit({ ...form, document: form.document }, 'Create feed')).status, 200);
  const button = form.document.querySelector('form[action="/settings/data/feed"]');
  button?.setAttribute('action', page.url.concat('/feed'));
  t.equal((await bobs.submit(form, 'Create feed')).status, 404);
});

t.test('A session of more than 15 minutes gives the password in the form, and the page says so', async (t) => {
  const carol = await signUp(app);
  const carols = visit(app, carol);
  const page = await carols.open('/settings/data');
  clock.advance(15 * 60_000);
  const asked = await carols.submit(page, 'Create feed');
  t.match(asked, { status: 422, heading: 'Confirm your password' });
  const wrong = await carols.submit(asked, 'Create feed', { currentPassword: 'wrong' });
  t.match(wrong, { status: 422, text: /is wrong/i });
  const made = await carols.submit(wrong, 'Create feed', { currentPassword: PASSWORD });
  t.match(made, { status: 200, heading: 'The feed is on' });
  t.match(
    await carols.submit(page, 'Create feed'),
    { status: 200, heading: 'The feed is on' },
    'and once for 15 minutes',
  );
});
