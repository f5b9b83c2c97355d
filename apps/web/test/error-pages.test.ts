import t from 'tap';
import { changeSettings } from '../../api/src/product/system/settings.ts';
import { testContext } from '../../api/test/support/context.ts';
import { findCallerByToken, signUpAda, signUpAlice } from '../../api/test/support/people.ts';
import { visit } from './support/visitor.ts';

const { app, ctx } = await testContext(t);
const alice = await signUpAlice(app);
const ada = await signUpAda(app);
const caller = await findCallerByToken(ctx, ada.token);

t.test('An unknown address is a page for browsers and JSON for programs', async (t) => {
  for (const person of [undefined, alice]) {
    const { status, heading, response } = await visit(app, person).open('/nothing');
    t.match({ status, heading }, { status: 404, heading: 'Page not found' });
    t.match(response.headers['content-security-policy'], /^default-src 'none'/);
  }
  t.match((await app.inject({ url: '/nothing', headers: { accept: 'application/json' } })).json(), { success: false });
  const asked = { url: '/api/nothing', headers: { accept: 'text/html' } };
  t.match((await app.inject(asked)).json(), { success: false, error: 'Not found' });
});

t.test('An error keeps the menu, and its page has the language of the account', async (t) => {
  for (const [path, status] of [
    ['/nothing', 404],
    ['/tasks/999999', 404],
    ['/admin', 404],
  ] as const) {
    const shown = await visit(app, alice).open(path);
    t.match(shown, { status, heading: 'Page not found' }, path);
    t.ok(shown.document.querySelector('nav a[href="/tasks"]'), `${path} has the menu`);
    const stranger = await visit(app).open(path);
    t.notOk(stranger.document.querySelector('nav'), `${path} has no menu for strangers`);
  }
});

t.test('During maintenance people get a page that says so, and admins go on', async (t) => {
  if (!caller) throw new Error('Ada is signed in.');
  await changeSettings(ctx, caller, { maintenanceMode: true });
  const shown = await visit(app, alice).open('/tasks');
  t.match(shown, { status: 503, heading: 'Carillon is not available', text: /maintenance/i });
  t.equal((await visit(app, ada).open('/tasks')).status, 200);
  t.equal((await visit(app).open('/sign-in')).status, 200);
  await changeSettings(ctx, caller, { maintenanceMode: false });
});

t.test('A process that waits for its database answers with a page', async (t) => {
  ctx.waitingFor = 'the database refuses connections';
  const { status, heading, response } = await visit(app, alice).open('/');
  ctx.waitingFor = null;
  t.match({ status, heading }, { status: 503, heading: 'Carillon is not available' });
  t.equal(response.headers['retry-after'], '5');
});

t.test('A form that another site sends is refused', async (t) => {
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
    const response = await app.inject({
      method: 'POST',
      url: '/sign-in',
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: 'email=a@example.com&password=x',
    });
    t.equal(response.statusCode, 403);
  }
});

t.test('A page of a session that has ended asks to sign in, and is not kept by the browser', async (t) => {
  const visitor = visit(app, alice);
  const page = await visitor.open('/tasks');
  t.equal(page.response.headers['cache-control'], 'no-store');
  await app.inject({ method: 'POST', url: '/api/auth/logout', headers: alice.headers });
  t.match(await visitor.open('/tasks'), { heading: 'Sign in' });
});

t.test('Without the dashboard there are no pages, and the API answers as before', async (t) => {
  const { app: bare } = await testContext(t, { env: { DASHBOARD: 'false' } });
  const headers = { accept: 'text/html' };
  t.match((await bare.inject({ url: '/', headers })).json(), { name: 'Carillon', docs: '/api/docs' });
  for (const url of ['/sign-in', '/tasks', '/setup', '/nothing']) {
    t.match((await bare.inject({ url, headers })).json(), { success: false, error: 'Not found' }, url);
  }
  t.equal((await bare.inject({ url: '/api/health' })).statusCode, 200);
});
