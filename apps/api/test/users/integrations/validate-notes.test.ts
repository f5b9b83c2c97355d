import t from 'tap';
import { assertNeedsSession } from '../../support/access.ts';
import { testContext } from '../../support/context.ts';
import { type Person, signUp } from '../../support/people.ts';
import { notionBot, notionPerson, startNotionServer } from '../../support/servers/notion-server.ts';

const byUser = (user: object) => notionBot({ owner: { type: 'user', user } });
const KEYS = {
  ntn_workspace: notionBot(),
  ntn_user: byUser(notionPerson()),
  ntn_nameless: byUser(notionPerson({ name: null })),
  ntn_unseen: byUser({ object: 'user', id: '5389a034-eb5c-47b5-8a9e-f79c99ef166c' }),
  ntn_untitled: notionBot({ workspace_name: null }),
  ntn_old: notionBot({ workspace_id: undefined, workspace_name: '  ' }),
  ntn_bare: notionBot({}, { bot: {}, name: null }),
  ntn_person: notionPerson(),
  ntn_long: notionBot({ workspace_name: '😀'.repeat(1000) }),
};
const notion = await startNotionServer(t, KEYS);
const { app } = await testContext(t, { env: { NOTES_API_URL: `${notion.url}/` } });
const URL = '/api/integrations/notes/validate';
const validate = ({ headers }: Person, payload: unknown) =>
  app.inject({ method: 'POST', url: URL, headers, payload: payload as object });
t.beforeEach(() => {
  notion.requests.length = 0;
});

t.test('A valid key returns its workspace', async (t) => {
  const alice = await signUp(app);
  const answer = await validate(alice, { apiKey: 'ntn_workspace' });
  t.equal(answer.statusCode, 200);
  const workspace = {
    name: 'Alice and friends',
    owner: 'Alice and friends',
    id: 'b2f3e6a1-1111-4222-8333-444455556666',
  };
  t.strictSame(answer.json(), { valid: true, workspace });
  const [request] = notion.requests;
  t.match(request, { method: 'GET', url: '/v1/users/me' });
  t.match(request?.headers, { authorization: 'Bearer ntn_workspace', 'notion-version': '2026-03-11' });
  t.equal(notion.requests.length, 1);
});

t.test('Name, owner and id are never empty, although Notion omits fields', async (t) => {
  const alice = await signUp(app);
  const workspaceId = 'b2f3e6a1-1111-4222-8333-444455556666';
  const userId = '16d84278-ab0e-484c-9bdd-b35da3bd8905';
  const name = 'Alice and friends';
  for (const [apiKey, workspace] of Object.entries({
    ntn_user: { name, owner: 'Alice Example', id: workspaceId },
    ntn_nameless: { name, owner: 'alice@example.com', id: workspaceId },
    ntn_unseen: { name, owner: 'Notion user', id: workspaceId },
    ntn_untitled: { name: 'Notion workspace', owner: 'Notion workspace', id: workspaceId },
    ntn_old: { name: 'Notion workspace', owner: 'Notion workspace', id: userId },
    ntn_bare: { name: 'Notion workspace', owner: 'Notion workspace', id: userId },
    ntn_person: {
      name: 'Notion workspace',
      owner: 'Alice Example',
      id: '5389a034-eb5c-47b5-8a9e-f79c99ef166c',
    },
    ntn_long: { name: '😀'.repeat(250), owner: '😀'.repeat(250), id: workspaceId },
  })) {
    t.strictSame((await validate(alice, { apiKey })).json(), { valid: true, workspace }, apiKey);
  }
});

t.test('A key that Notion refuses is 400', async (t) => {
  const alice = await signUp(app);
  for (const apiKey of ['ntn_revoked', 'secret_old']) {
    const answer = await validate(alice, { apiKey });
    t.equal(answer.statusCode, 400);
    t.strictSame(answer.json(), {
      valid: false,
      error: 'Notion refused the key: it is wrong, or was revoked.',
    });
  }
});

t.test('A key of another form is 400 and is not sent', async (t) => {
  const alice = await signUp(app);
  for (const apiKey of ['x', 'NTN_workspace', 'figd_token', 'ntn']) {
    const answer = await validate(alice, { apiKey });
    t.equal(answer.statusCode, 400, apiKey);
    t.match(answer.json(), { valid: false, error: 'This is no key of Notion: it must begin with ntn_ or secret_.' });
  }
  t.equal(notion.requests.length, 0);
});

t.test('An impossible key is 400 and is not sent', async (t) => {
  const alice = await signUp(app);
  const ascii = 'apiKey must be printable ASCII characters without spaces';
  for (const [payload, error] of [
    [{}, 'apiKey is required'],
    [{ apiKey: 7 }, 'apiKey must be a string'],
    [{ apiKey: null }, 'apiKey must be a string'],
    [{ apiKey: 'x'.repeat(1001) }, 'apiKey must be at most 1000 characters'],
    [{ apiKey: 'ntn_workspace\r\nx-other: 1' }, ascii],
    [{ apiKey: ' ntn_workspace' }, ascii],
    [{ apiKey: 'clé' }, ascii],
    [{ apiKey: '钥匙' }, ascii],
    [{ apiKey: 'ntn_workspace', baseUrl: 'http://127.0.0.1' }, 'baseUrl is not a known field'],
    [[], 'body must be an object'],
  ] as const) {
    const answer = await validate(alice, payload);
    t.equal(answer.statusCode, 400);
    t.strictSame(answer.json(), { valid: false, error });
  }
  for (const apiKey of ['', 'ntn\0', '\ud800']) t.equal((await validate(alice, { apiKey })).statusCode, 400);
  t.equal(notion.requests.length, 0);
});

t.test('The check requires a session, and without one nothing is sent', async (t) => {
  await assertNeedsSession(t, app, { method: 'POST', url: URL, payload: { apiKey: 'ntn_workspace' } });
  t.equal(notion.requests.length, 0);
});
