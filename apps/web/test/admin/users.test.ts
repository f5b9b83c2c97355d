import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { type Person, signUp, signUpAda } from '../../../api/test/support/people.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';

const HOSTILE = '"><script>alert(1)</script>{{7*7}}\u202e';

const { app, ctx } = await testContext(t);
const ada = await signUpAda(app);
let bob: Person;
t.beforeEach(async () => {
  bob = await signUp(app, { name: 'Bob' });
});

const readBob = async () => (await app.inject({ url: `/api/admin/users/${bob.id}`, headers: ada.headers })).json().user;
const patch = (id: number, payload: object) =>
  app.inject({ method: 'PATCH', url: `/api/admin/users/${id}`, headers: ada.headers, payload });

t.test('Users are found by name, role, plan and state', async (t) => {
  const admin = visit(app, ada);
  const names = async (query: string) => {
    const { document } = await admin.open(`/admin/users?${query}`);
    return document.querySelectorAll('tbody th a').map(({ text }) => text);
  };
  t.same(await names('role=ADMIN'), ['Ada']);
  t.ok((await names('search=BOB')).includes('Bob'));
  await patch(bob.id, { plan: 'pro', isActive: false });
  t.same(await names('plan=pro&state=deactivated'), ['Bob']);
  t.same(await names('plan=pro&state=active'), []);
  t.match(await admin.open('/admin/users?offset=-1&role=NONE&state=x'), { status: 200 }, 'unknown values are ignored');
  t.match(await admin.open(`/admin/users?search=${encodeURIComponent(HOSTILE)}`), {
    status: 200,
    text: /No account matches “"><script>alert\(1\)/,
  });
});

t.test('A long list of users continues on its next page, with the filters', async (t) => {
  for (let count = 0; count < 51; count++) await signUp(app, { name: 'Carol' });
  const admin = visit(app, ada);
  const first = await admin.open('/admin/users?search=carol');
  const next = first.document.querySelector('a[rel=next]')?.getAttribute('href') ?? '';
  t.equal(next, '/admin/users?search=carol&offset=50');
  const second = await admin.open(next.replaceAll('&amp;', '&'));
  t.match(second.text, /51 to 51 of 51/);
  t.ok(second.document.querySelector('a[rel=prev]'));
});

t.test('The page of a user shows facts, use, sessions and activity in few statements', async (t) => {
  const admin = visit(app, ada);
  const statements = countStatements(ctx.db);
  const { status, heading, text } = await admin.open(`/admin/users/${bob.id}`);
  t.equal(statements(), SESSION_STATEMENTS + 2);
  t.match({ status, heading }, { status: 200, heading: 'Bob' });
  t.match(text, /Runs this month ?0 ?of 500 in the plan/);
  t.match(text, /Signs in with ?password/);
  t.match(text, /Sessions.*Unknown program ?127\.0\.0\.1/);
  t.match(text, /Latest activity.*Signed in/);
  t.notMatch(text, /local:|Identity|ID ?\d|[0-9a-f]{8}-[0-9a-f]{4}/, 'no identifier that a person does not use');
});

t.test('Names and addresses of users stay text', async (t) => {
  const name = `${HOSTILE}${'x'.repeat(50)}`;
  const eve = await signUp(app, { name, email: `"<img/src=x>"@evil.example` });
  for (const address of ['/admin/users', `/admin/users/${eve.id}`, `/admin/users/${eve.id}/delete`, '/admin/audit']) {
    const { response, document } = await visit(app, ada).open(address);
    t.equal(response.statusCode, 200, address);
    t.notMatch(response.body, /<script>alert|<img\/src/, address);
    t.equal(document.querySelectorAll('main script, main img').length, 0, address);
  }
});

t.test('A new role, plan and end of the trial are saved, and the sessions of the account end', async (t) => {
  const admin = visit(app, ada);
  const values = { role: 'ADMIN', plan: 'pro', trialEndsAt: '2027-01-02T03:04' };
  const saved = await admin.submit(await admin.open(`/admin/users/${bob.id}`), 'Save', values);
  t.match(saved, { status: 200, url: `/admin/users/${bob.id}`, text: /The account is saved\./ });
  t.match(await readBob(), { role: 'ADMIN', trialEndsAt: '2027-01-02T03:04:00.000Z' });
  t.equal((await visit(app, bob).open('/')).heading, 'Sign in');
  await patch(bob.id, { role: 'USER' });
});

t.test(
  'The end of a trial is a time in the zone of the admin, and keeps its seconds if it is not changed',
  async (t) => {
    const greta = await signUp(app, { name: 'Greta', role: 'ADMIN', timezone: 'Europe/Berlin' });
    await patch(bob.id, { trialEndsAt: '2027-07-01T10:00:42.000Z' });
    const admin = visit(app, greta);
    const page = await admin.open(`/admin/users/${bob.id}`);
    t.equal(page.document.querySelector('#trialEndsAt')?.getAttribute('value'), '2027-07-01T12:00');
    const saved = await admin.submit(page, 'Save', { plan: 'pro' });
    t.equal((await readBob()).trialEndsAt, '2027-07-01T10:00:42.000Z');
    await admin.submit(saved, 'Save', { trialEndsAt: '2027-01-01T12:00' });
    t.equal((await readBob()).trialEndsAt, '2027-01-01T11:00:00.000Z');
    await admin.submit(await admin.open(`/admin/users/${bob.id}`), 'Save', { trialEndsAt: '' });
    t.equal((await readBob()).trialEndsAt, null);
    await patch(greta.id, { role: 'USER' });
  },
);

t.test('A refused change keeps what was typed, with the message at its field', async (t) => {
  const admin = visit(app, ada);
  const page = await admin.open(`/admin/users/${bob.id}`);
  const refused = await admin.submit(page, 'Save', { plan: 'pro', trialEndsAt: 'soon' });
  t.match(refused, { status: 422, text: /is not a date and time/ });
  t.equal(refused.document.querySelector('#plan option[selected]')?.getAttribute('value'), 'pro');
  t.equal(refused.document.querySelector('#trialEndsAt')?.getAttribute('aria-invalid'), 'true');
  t.match(await admin.submit(page, 'Save', { role: 'ROOT' }), { status: 422, heading: 'Bob' });
  t.match(await admin.submit(page, 'Extend', { days: '0' }), { status: 422, text: /from 1 to 3650/ });
  t.match(await readBob(), { role: 'USER', isActive: true });
});

t.test('A trial is extended from its end, or from now if that has passed', async (t) => {
  const admin = visit(app, ada);
  await patch(bob.id, { trialEndsAt: '2026-12-01T00:00:00.000Z' });
  const page = await admin.open(`/admin/users/${bob.id}`);
  t.match(await admin.submit(page, 'Extend', { days: '10' }), { text: /The trial is extended by 10 days/ });
  t.equal((await readBob()).trialEndsAt, '2026-12-11T00:00:00.000Z');
  await patch(bob.id, { trialEndsAt: '2020-01-01T00:00:00.000Z' });
  await admin.submit(page, 'Extend', { days: '1' });
  t.equal((await readBob()).trialEndsAt, '2026-11-21T10:00:00.000Z');
});

t.test('A user is deactivated on a page of its own, and reactivated', async (t) => {
  const admin = visit(app, ada);
  const page = await admin.open(`/admin/users/${bob.id}/deactivate`);
  t.match(page, { heading: 'Deactivate Bob', text: /cannot sign in/ });
  const done = await admin.submit(page, 'Deactivate');
  t.match(done, { url: `/admin/users/${bob.id}`, text: /The account is deactivated/ });
  t.equal((await visit(app, bob).open('/')).heading, 'Sign in');
  t.match(await admin.submit(done, 'Reactivate'), { text: /The account is active again/ });
  t.equal((await readBob()).isActive, true);
});

t.test('A user is deleted only with the typed e-mail address', async (t) => {
  const admin = visit(app, ada);
  const page = await admin.open(`/admin/users/${bob.id}/delete`);
  for (const email of ['', 'bob', ada.email]) {
    const refused = await admin.submit(page, 'Delete account', { email });
    t.match(refused, { status: 422, heading: 'Delete Bob' }, email);
    t.equal(refused.document.querySelector('#email')?.getAttribute('value'), email);
    t.equal(refused.document.querySelector('#email')?.getAttribute('aria-invalid'), 'true');
  }
  const deleted = await admin.submit(page, 'Delete account', { email: ` ${bob.email.toUpperCase()} ` });
  t.match(deleted, { url: '/admin/users', text: /The account is deleted/ });
  t.match(await admin.open(`/admin/users/${bob.id}`), { status: 404 });
});

t.test('The last active admin cannot be demoted, deactivated or deleted', async (t) => {
  const admin = visit(app, ada);
  const { url } = await admin.open(`/admin/users/${ada.id}`);
  const refused = { status: 409, text: /This is the last active admin\./ };
  t.match(await admin.submit(await admin.open(url), 'Save', { role: 'USER' }), refused);
  t.match(await admin.submit(await admin.open(`${url}/deactivate`), 'Deactivate'), refused);
  t.match(await admin.submit(await admin.open(`${url}/delete`), 'Delete account', { email: ada.email }), refused);
});

t.test('An admin who becomes a user is signed out, and sees none of these pages after the next sign-in', async (t) => {
  const grace = await signUp(app, { name: 'Grace', role: 'ADMIN' });
  const admin = visit(app, grace);
  const page = await admin.open(`/admin/users/${grace.id}`);
  const out = await admin.submit(page, 'Save', { role: 'USER' });
  t.match(out, { heading: 'Sign in', text: /You are no longer an administrator/ });
  t.notOk(admin.cookies.has('local-session'));
  t.match(await admin.submit(out, 'Sign in', { email: grace.email, password: 'Carillon-2026' }), { status: 200 });
  t.match(await admin.open('/admin'), { status: 404 });
});

t.test('An account that does not exist is not found', async (t) => {
  const admin = visit(app, ada);
  for (const id of ['0', '999999', '2147483648', '1.5', 'abc', '%20']) {
    t.match(await admin.open(`/admin/users/${id}`), { status: 404, heading: 'Page not found' }, id);
  }
});
