export const CURSOR_REDIRECTS = [
  'cursor://anysphere.cursor-mcp/oauth/callback',
  'https://www.cursor.com/agents/mcp/oauth/callback',
  'http://localhost:8787/callback',
];
const VS_CODE_REDIRECTS = [
  'https://vscode.dev/redirect',
  'https://insiders.vscode.dev/redirect',
  'http://127.0.0.1/',
  'http://127.0.0.1:33418/',
];
interface KnownProgram {
  name: string;
  /** The address of its document; without one, it registers first. */
  id?: string;
  /** Each of them works alone. */
  redirects: string[];
  registers?: { client_name: string; redirect_uris: string[] } & Record<string, unknown>;
}

/** What each assistant sends, as others have recorded it. */
export const PROGRAMS: readonly KnownProgram[] = [
  {
    name: 'Claude',
    id: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
    redirects: ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
  },
  {
    name: 'ChatGPT',
    id: 'https://chatgpt.com/oauth/client.json',
    redirects: ['https://chatgpt.com/connector_platform_oauth_redirect', 'https://chatgpt.com/connector/oauth/0Ab-c_9'],
  },
  {
    name: 'ChatGPT',
    id: 'https://chatgpt.com/oauth/0Ab-c_9/client.json',
    redirects: ['https://chatgpt.com/connector/oauth/0Ab-c_9'],
  },
  {
    name: 'Claude Code',
    id: 'https://claude.ai/oauth/claude-code-client-metadata',
    redirects: ['http://localhost:49152/callback', 'http://127.0.0.1:6543/callback'],
  },
  {
    name: 'Codex',
    id: 'https://chatgpt.com/oauth/codex/client.json',
    redirects: ['http://127.0.0.1:1455/callback', 'http://127.0.0.1:41733/callback/0Ab-c_9'],
  },
  {
    name: 'Codex',
    id: 'https://chatgpt.com/oauth/codex/0Ab-c_9/client.json?version=2',
    redirects: ['http://127.0.0.1:41733/callback/0Ab-c_9'],
  },
  {
    name: 'OpenCode',
    id: 'https://opencode.ai/oauth/opencode/client.json',
    redirects: ['http://127.0.0.1:19876/mcp/oauth/callback'],
  },
  { name: 'Cursor', id: 'https://cursor.com/oauth/mcp-client.json', redirects: CURSOR_REDIRECTS },
  {
    name: 'Cursor',
    redirects: CURSOR_REDIRECTS,
    registers: {
      ...{ client_name: 'Cursor', redirect_uris: CURSOR_REDIRECTS, token_endpoint_auth_method: 'none' },
      ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
    },
  },
  {
    name: 'Visual Studio Code',
    redirects: [...VS_CODE_REDIRECTS, 'http://127.0.0.1:50123/'],
    registers: {
      ...{ client_name: 'Visual Studio Code', client_uri: 'https://code.visualstudio.com' },
      ...{ redirect_uris: VS_CODE_REDIRECTS, token_endpoint_auth_method: 'none' },
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    },
  },
  {
    name: 'OpenCode',
    redirects: ['http://127.0.0.1:19876/mcp/oauth/callback'],
    registers: { client_name: 'OpenCode', redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'] },
  },
  {
    name: 'Claude Code',
    redirects: ['http://localhost:49999/callback'],
    registers: {
      ...{ client_name: 'Claude Code', redirect_uris: ['http://localhost:3118/callback'] },
      ...{ token_endpoint_auth_method: 'client_secret_basic', application_type: 'native' },
    },
  },
];
