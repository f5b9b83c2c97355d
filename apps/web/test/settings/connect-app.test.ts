import { getTexts } from '@carillon/texts';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { ask, buildRequest, CLAUDE, connectProgram, exchange } from '../../../api/test/support/oauth-client.ts';
import { PASSWORD, signUp, signUpAda, signUpBob } from '../../../api/test/support/people.ts';
import { visit } from '../support/visitor.ts';

const { apps, account, settings } = getTexts('en');
const MINUTE_MS = 60_000;

const { app, clock } = await testContext(t, { env: { DASHBOARD: 'true' } });
const LOCAL = {
  id: 'https://claude.ai/oauth/claude-code-client-metadata',
  redirect: 'http://localhost:51234/callback',
};
const address = (search: string) => `/oauth/authorize?${search}`;

t.test('A guest signs in, and comes back to the program that asks', async (t) => {
  const alice = await signUp(app);
  const { search, verifier } = buildRequest(CLAUDE, { scope: 'tasks:read tasks:write executions:read webhooks:read' });
  const visitor = visit(app);
  const signIn = await visitor.open(address(search));
  t.equal(signIn.heading, account.signIn);
  const page = await visitor.submit(signIn, account.signIn, { email: alice.email, password: PASSWORD });
  t.equal(page.heading, 'Connect Claude?');
  t.match(page.text, /claude\.ai/);
  t.match(page.text, alice.email);
  t.notMatch(page.text, apps.localWarning);
  t.same(
    page.document.querySelectorAll('[name=preset]').map((one) => one.getAttribute('value')),
    ['look', 'run', 'everything'],
  );
  const done = await visitor.submit(page, apps.allow, { preset: 'look' });
  t.equal(done.status, 200);
  t.equal(done.heading, 'Claude is connected');
  const to = done.document.querySelector('main a.button.primary')?.getAttribute('href') ?? '';
  t.equal(done.response.headers.refresh, `0;url=${to}`);
  t.match(to, /^https:\/\/claude\.ai\/api\/mcp\/auth_callback\?code=/);
  t.match(done.response.headers['content-security-policy'], /form-action 'self'/);
  const code = new URL(to).searchParams.get('code') ?? '';
  const tokens = (await exchange(app, CLAUDE, { code, verifier })).json();
  t.equal(tokens.scope, 'tasks:read executions:read', 'what was asked for of the preset');
  t.equal((await ask(app, tokens.access_token)).statusCode, 200);
});

t.test('A program on this computer is said to be one, and a refusal goes back to it', async (t) => {
  const visitor = visit(app, await signUp(app));
  const { search } = buildRequest(LOCAL);
  const page = await visitor.open(address(search));
  t.match(page.text, apps.thisComputer);
  t.match(page.text, apps.localWarning);
  const refused = await visitor.submit(page, apps.refuse);
  t.equal(refused.heading, 'Claude Code is not connected');
  const to = new URL(refused.document.querySelector('main a.button.primary')?.getAttribute('href') ?? '');
  t.equal(to.origin, 'http://localhost:51234');
  t.same(Object.fromEntries(to.searchParams), {
    error: 'access_denied',
    state: 'state-of-the-program',
    iss: 'http://localhost:3000',
  });
});

t.test('A session that is older than 15 minutes needs the password', async (t) => {
  const visitor = visit(app, await signUp(app));
  clock.advance(16 * MINUTE_MS);
  const page = await visitor.open(address(buildRequest(CLAUDE).search));
  t.match(page.text, settings.currentPassword);
  const wrong = await visitor.submit(page, apps.allow, { currentPassword: 'not the password' });
  t.equal(wrong.status, 422);
  t.notOk(wrong.response.headers.refresh);
  const done = await visitor.submit(wrong, apps.allow, { currentPassword: PASSWORD });
  t.equal(done.heading, 'Claude is connected');
});

t.test('An address that is not the program’s own is refused, and nobody is sent there', async (t) => {
  const visitor = visit(app, await signUp(app));
  const { search } = buildRequest({ ...CLAUDE, redirect: 'https://evil.example/callback' });
  const page = await visitor.open(address(search));
  t.equal(page.status, 400);
  t.equal(page.heading, apps.cannotTitle);
  t.notMatch(page.response.body, 'href="https://evil.example');
  t.notOk(page.response.headers.refresh);
  const unknown = await visitor.open(address(buildRequest({ id: 'nobody', redirect: CLAUDE.redirect }).search));
  t.equal(unknown.status, 400);
  t.match(unknown.text, apps.cannotClient);
});

t.test('Connected apps are listed and disconnected in the settings', async (t) => {
  const alice = await signUp(app);
  const { access_token: token } = await connectProgram(app, alice);
  const visitor = visit(app, alice);
  const list = await visitor.open('/settings/apps');
  t.match(list.text, /Claude.*claude\.ai/);
  const bob = visit(app, await signUpBob(app));
  t.match((await bob.open('/settings/apps')).text, apps.none);
  const after = await visitor.submit(list, apps.disconnect);
  t.match(after.text, 'Claude is disconnected.');
  t.equal((await ask(app, token)).statusCode, 401);
  t.equal((await visitor.submit(list, apps.disconnect)).status, 404, 'the form sent again');
});

t.test('An administrator blocks a program for everybody, and allows it again', async (t) => {
  const [alice, ada] = [await signUp(app), await signUpAda(app)];
  const { access_token: token } = await connectProgram(app, alice);
  const visitor = visit(app, ada);
  const list = await visitor.open('/admin/apps');
  t.match(list.text, /Claudeclaude\.ai/);
  const blocked = await visitor.submit(list, apps.admin.block);
  t.match(blocked.text, 'Claude is blocked.');
  t.equal((await ask(app, token)).statusCode, 401);
  const asking = await visit(app, alice).open(address(buildRequest(CLAUDE).search));
  t.match(asking.text, apps.cannotClient);
  await visitor.submit(blocked, apps.admin.unblock);
  t.equal((await visit(app, alice).open(address(buildRequest(CLAUDE).search))).heading, 'Connect Claude?');
});
