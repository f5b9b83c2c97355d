import { startToolServer, type ToolAnswer } from './tool-server.ts';

interface Test {
  after(work: () => unknown): unknown;
}

const REQUEST_ID = '9b3a1c52-4f0e-4f3c-8b1c-0a4de1a1f3d2';

const refuse = (status: number, code: string, message: string): ToolAnswer => ({
  status,
  body: { object: 'error', status, code, message, request_id: REQUEST_ID },
});

/** The bot user of an integration; `bot` replaces fields of its workspace. */
export const notionBot = (bot: object = {}, user: object = {}) => ({
  object: 'user',
  id: '16d84278-ab0e-484c-9bdd-b35da3bd8905',
  name: 'Carillon check',
  avatar_url: null,
  type: 'bot',
  bot: {
    owner: { type: 'workspace', workspace: true },
    workspace_id: 'b2f3e6a1-1111-4222-8333-444455556666',
    workspace_limits: { max_file_upload_size_in_bytes: 5_242_880 },
    workspace_name: 'Alice and friends',
    ...bot,
  },
  request_id: REQUEST_ID,
  ...user,
});

/** A user of Notion. */
export const notionPerson = (given: object = {}) => ({
  object: 'user',
  id: '5389a034-eb5c-47b5-8a9e-f79c99ef166c',
  name: 'Alice Example',
  avatar_url: null,
  type: 'person',
  person: { email: 'alice@example.com' },
  ...given,
});

/** Starts a server with `GET /v1/users/me` of Notion's API; `keys` has the user of each API key. */
export function startNotionServer(t: Test, keys: Record<string, object>) {
  return startToolServer(t, ({ method, url, headers }) => {
    if (method !== 'GET' || url !== '/v1/users/me') return refuse(400, 'invalid_request_url', 'Invalid request URL.');
    const [, key] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    const user = key === undefined ? undefined : keys[key];
    if (user === undefined) return refuse(401, 'unauthorized', 'API token is invalid.');
    if (!/^\d{4}-\d\d-\d\d$/.test(String(headers['notion-version']))) {
      return refuse(400, 'missing_version', 'Notion-Version header failed validation.');
    }
    return { status: 200, body: user };
  });
}
