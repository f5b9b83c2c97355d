import { randomUUID } from 'node:crypto';
import { getTexts } from '@carillon/texts';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { createKey, USER_SCOPES } from '../../../api/test/support/keys.ts';
import { signUp, signUpAda, signUpAlice, signUpBob } from '../../../api/test/support/people.ts';
import { type ShownPage, visit } from '../support/visitor.ts';

const { app, clock } = await testContext(t);
const alice = await signUpAlice(app);
const ada = await signUpAda(app);
const HOSTILE = '"><script>alert(1)</script>‮{{7*7}}';

t.test('A list without keys says so', async (t) => {
  const page = await visit(app, await signUp(app)).open('/settings/keys');
  t.match(page, { status: 200, heading: 'API keys', text: getTexts('en').keys.none });
});

t.test('A new key is shown with its secret once, which works', async (t) => {
  const visitor = visit(app, alice);
  const form = await visitor.open('/settings/keys');
  const values = { name: HOSTILE, preset: 'custom', scopes: ['tasks:read', 'usage:read'], expiry: '30' };
  const page = await visitor.submit(form, 'Create key', values);
  t.match(page, { status: 200, heading: 'Key created', url: '/settings/keys' });
  t.equal(page.response.headers['cache-control'], 'no-store');
  t.equal(page.response.headers['set-cookie'], undefined);
  t.notMatch(page.response.body, '<script>alert');
  const secret = page.document.querySelector('.secret')?.text ?? '';
  const headers = { authorization: `Bearer ${secret}` };
  t.equal((await app.inject({ url: '/api/tasks', headers })).statusCode, 200);
  t.equal((await app.inject({ url: '/api/webhooks', headers })).statusCode, 403);

  const list = await visitor.open('/settings/keys');
  t.notMatch(list.response.body, secret);
  t.match(list.text, /tasks:read usage:read never last used|tasks:read usage:read never/);
  t.match(list.text, /in 30 days/);
  const again = await visitor.submit(form, 'Create key', values);
  t.match(again, { status: 409, heading: 'API keys', text: getTexts('en').keys.alreadyCreated });
  t.notMatch(again.response.body, /crl_[0-9A-Za-z]{38}/);
});

const readPrograms = ({ document }: ShownPage) =>
  document.querySelectorAll('pre.copied').map((text) => text.textContent.replaceAll('&quot;', '"'));

t.test('The page says how an assistant is connected, and a link proposes a key for it', async (t) => {
  const visitor = visit(app, alice);
  const page = await visitor.open('/settings/keys');
  t.match(page.text, /Connect an assistant.*URL ?http:\/\/localhost:3000\/mcp/);
  t.equal(page.document.querySelectorAll('[name=scopes][checked]').length, 0);
  const [claude, cursor = '', code = ''] = readPrograms(page);
  const url = 'http://localhost:3000/mcp';
  t.equal(
    claude,
    `claude mcp add --transport http carillon ${url} --header "Authorization: Bearer YOUR_API_KEY" --scope user`,
  );
  const headers = { Authorization: 'Bearer YOUR_API_KEY' };
  t.same(JSON.parse(cursor), { mcpServers: { carillon: { url, headers } } });
  t.same(JSON.parse(code), { servers: { carillon: { type: 'http', url, headers } } });

  const proposed = await visitor.follow(page, 'Create a key for an assistant');
  t.equal(proposed.document.querySelector('[name=preset][checked]')?.getAttribute('value'), 'assistant');
  const created = await visitor.submit(proposed, 'Create key');
  const secret = created.document.querySelector('.secret')?.text ?? '';
  t.match(secret, /^crl_/);
  t.same(
    readPrograms(created).map((text) => text.includes(`Bearer ${secret}"`)),
    [true, true, true],
  );
  t.notMatch(created.text, /YOUR_API_KEY|lacks/);
  t.equal(created.response.headers['cache-control'], 'no-store');
  const list = await visitor.open('/settings/keys');
  t.notMatch(list.response.body, secret, 'no other page has the key');
});

t.test('A key that an assistant can use in part says what it lacks, any other does not speak of it', async (t) => {
  const visitor = visit(app, alice);
  const form = () => visitor.open('/settings/keys');
  const part = await visitor.submit(await form(), 'Create key', {
    name: 'Part',
    preset: 'custom',
    scopes: ['tasks:read', 'events:read'],
  });
  t.match(part.text, /lacks some permissions .*Tools that need tasks:write, .*usage:read are rejected/);
  const other = await visitor.submit(await form(), 'Create key', {
    name: 'Other',
    preset: 'custom',
    scopes: ['events:read'],
  });
  t.match(other, { heading: 'Key created' });
  t.same(readPrograms(other), []);
});

t.test('A key without a name or scopes is refused at its fields, with what was chosen', async (t) => {
  const visitor = visit(app, alice);
  const form = await visitor.open('/settings/keys');
  const page = await visitor.submit(form, 'Create key', { name: ' ', preset: 'custom', scopes: [], expiry: 'never' });
  t.equal(page.status, 422);
  t.ok(page.document.querySelector('#name-error'));
  t.ok(page.document.querySelector('#scopes-error'));
  t.equal(page.document.querySelector('[name=expiry] [selected]')?.getAttribute('value'), 'never');
  const unknown = await visitor.submit(page, 'Create key', { name: 'x', scopes: ['tasks:read', 'everything'] });
  t.equal(unknown.status, 422);
  t.ok(unknown.document.querySelector('[value="tasks:read"]')?.hasAttribute('checked'));
});

t.test('A preset gives its permissions, whichever boxes a form has ticked, and is named in the list', async (t) => {
  const visitor = visit(app, ada);
  const form = await visitor.open('/settings/keys');
  t.equal(form.document.querySelector('[name=preset][checked]')?.getAttribute('value'), 'read', 'the least');
  for (const [preset, name] of Object.entries({
    read: 'Read only',
    all: 'Everything but admin',
    assistant: 'Assistant',
  })) {
    const fresh = await visitor.open('/settings/keys');
    const created = await visitor.submit(fresh, 'Create key', { name: `For ${preset}`, preset, scopes: ['admin'] });
    const headers = { authorization: `Bearer ${created.document.querySelector('.secret')?.text}` };
    const posted = await app.inject({ method: 'POST', url: '/api/tasks/preview', headers, payload: {} });
    t.equal(posted.statusCode, 400, `${preset} may preview`);
    const paused = await app.inject({ method: 'PATCH', url: '/api/tasks/1', headers, payload: { status: 'paused' } });
    t.equal(paused.statusCode, preset === 'read' ? 403 : 404, preset);
    t.equal(
      (await app.inject({ url: '/api/admin/stats', headers })).statusCode,
      403,
      `${preset} does not administrate`,
    );
    t.match((await visitor.open('/settings/keys')).text, new RegExp(`For ${preset}crl_.{20,60}${name}`));
  }
  const unknown = await visitor.submit(form, 'Create key', { name: 'x', preset: 'toString' });
  t.match(unknown, { status: 422 });
  t.ok(unknown.document.querySelector('#scopes-error'));
});

t.test('Only an admin is offered the scope of administration', async (t) => {
  const offered = async (person: { token: string }) =>
    (await visit(app, person).open('/settings/keys')).document
      .querySelectorAll('[name=scopes]')
      .map((box) => box.getAttribute('value'));
  t.same(await offered(alice), USER_SCOPES);
  t.ok((await offered(ada)).includes('admin'));
});

t.test('A key is renamed, and deleted after a confirmation', async (t) => {
  const key = await createKey(app, alice);
  const visitor = visit(app, alice);
  const form = await visitor.open(`/settings/keys/${key.id}`);
  t.match(form, { status: 200, heading: 'Rename key' });
  t.match(await visitor.submit(form, 'Rename key', { name: '' }), { status: 422 });
  t.match(await visitor.submit(form, 'Rename key', { name: 'Backup job' }), { text: /Backup job/ });
  const asked = await visitor.open(`/settings/keys/${key.id}/delete`);
  t.match(asked, { heading: 'Delete key', text: /Backup job/ });
  const page = await visitor.submit(asked, 'Delete key');
  t.match(page, { url: '/settings/keys', text: /The key is deleted/ });
  t.notMatch(page.text, /Backup job/);
  t.equal((await app.inject({ url: '/api/tasks', headers: key.headers })).statusCode, 401);
});

t.test("A stranger's key is not found", async (t) => {
  const { id } = await createKey(app, await signUpBob(app));
  const visitor = visit(app, alice);
  const own = await createKey(app, alice);
  const form = await visitor.open(`/settings/keys/${own.id}`);
  const deletion = await visitor.open(`/settings/keys/${own.id}/delete`);
  for (const other of [id, randomUUID(), 'no-uuid']) {
    const to = (page: typeof form) => {
      page.document.querySelector('main form')?.setAttribute('action', page.url.replace(own.id, other));
      return page;
    };
    t.match(await visitor.open(`/settings/keys/${other}`), { status: 404 }, other);
    t.match(await visitor.open(`/settings/keys/${other}/delete`), { status: 404 });
    t.match(await visitor.submit(to(form), 'Rename key', { name: 'Mine' }), { status: 404 }, other);
    t.match(await visitor.submit(to(deletion), 'Delete key'), { status: 404 });
  }
});

t.test('A key that has expired says so', async (t) => {
  await createKey(app, alice, { expiresAt: '2026-11-21T10:00:00Z' });
  clock.advance(2 * 86_400_000);
  t.match((await visit(app, alice).open('/settings/keys')).text, /expired Yesterday at 10:00 ?1 day ago/);
});
