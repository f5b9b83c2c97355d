import t from 'tap';
import { assertNeedsSession } from '../../support/access.ts';
import { testContext } from '../../support/context.ts';
import { type Person, signUp } from '../../support/people.ts';
import { FIGMA_USER, startFigmaServer } from '../../support/servers/figma-server.ts';

const figma = await startFigmaServer(t, {
  figd_good: {},
  figd_files: { scopes: ['file_content:read', 'file_comments:write'] },
  figd_nameless: { user: { ...FIGMA_USER, handle: '' } },
});
const { app } = await testContext(t, { env: { DESIGN_API_URL: figma.url } });
const URL = '/api/integrations/design/validate';
const validate = ({ headers }: Person, payload: unknown) =>
  app.inject({ method: 'POST', url: URL, headers, payload: payload as object });
t.beforeEach(() => {
  figma.requests.length = 0;
});

t.test('A valid token returns its user', async (t) => {
  const alice = await signUp(app);
  const answer = await validate(alice, { token: 'figd_good' });
  t.equal(answer.statusCode, 200);
  const user = { name: 'Alice Example', email: 'alice@example.com', id: '1012345678901234567' };
  t.strictSame(answer.json(), { valid: true, user });
  const headers = { 'x-figma-token': 'figd_good', authorization: undefined };
  t.match(figma.requests.at(-1), { method: 'GET', url: '/v1/me', headers });
});

t.test('A token of another form is 400 and is not sent', async (t) => {
  const alice = await signUp(app);
  for (const token of ['x', 'figu_oauth', 'FIGD_good', '123456-0f0e0d0c', 'ntn_key']) {
    const answer = await validate(alice, { token });
    t.equal(answer.statusCode, 400, token);
    t.match(answer.json(), { valid: false, error: 'This is no token of Figma: it must begin with figd_.' });
  }
  t.equal(figma.requests.length, 0);
});

t.test('A user without a name is named by the e-mail address', async (t) => {
  const alice = await signUp(app);
  const { user } = (await validate(alice, { token: 'figd_nameless' })).json();
  t.strictSame(user, { name: 'alice@example.com', email: 'alice@example.com', id: '1012345678901234567' });
});

t.test('A token that Figma refuses is 400, and a missing scope is named', async (t) => {
  const alice = await signUp(app);
  for (const [token, error] of Object.entries({
    figd_expired: 'Figma refused the token: it is wrong, has expired, or was revoked.',
    figd_files: 'Figma refused the token: it lacks the scope current_user:read.',
  })) {
    const answer = await validate(alice, { token });
    t.equal(answer.statusCode, 400);
    t.strictSame(answer.json(), { valid: false, error });
  }
});

t.test('An impossible token is 400 and is not sent', async (t) => {
  const alice = await signUp(app);
  for (const payload of [
    {},
    { token: 7 },
    { token: '' },
    { token: 'figd_\n' },
    { token: 'é' },
    { apiKey: 'figd_good' },
  ]) {
    const answer = await validate(alice, payload);
    t.equal(answer.statusCode, 400);
    t.strictSame(answer.json(), { valid: false, error: answer.json().error });
    t.match(answer.json().error, /^(apiKey is not a known field; )?token /);
  }
  t.equal(figma.requests.length, 0);
});

t.test('The check requires a session', async (t) => {
  await assertNeedsSession(t, app, { method: 'POST', url: URL, payload: { token: 'figd_good' } });
  t.equal(figma.requests.length, 0);
});
