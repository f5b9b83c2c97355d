/** What a client says of itself in its document, as far as it counts here. */
export interface ClientDocument {
  name: string;
  redirects: readonly string[];
}

interface KnownClient extends ClientDocument {
  /** The address of its document; a part in parentheses is the same in `alsoRedirect`. */
  id: RegExp;
  /** Addresses that it makes for a connection, as `https://chatgpt.com/connector/oauth/<id>`. */
  alsoRedirect?: RegExp;
}

/**
 * Documents as their vendors serve them. They come before those at the addresses: claude.ai refuses many servers. `alsoRedirect`
 * is for addresses with a part that differs.
 */
const KNOWN_CLIENTS: readonly KnownClient[] = [
  {
    id: /^https:\/\/claude\.ai\/oauth\/mcp-oauth-client-metadata$/,
    name: 'Claude',
    redirects: ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
  },
  {
    id: /^https:\/\/claude\.ai\/oauth\/claude-code-client-metadata$/,
    name: 'Claude Code',
    redirects: ['http://localhost/callback', 'http://127.0.0.1/callback'],
  },
  {
    id: /^https:\/\/chatgpt\.com\/oauth\/(?!codex\/)([A-Za-z0-9_-]+\/)?client\.json$/,
    name: 'ChatGPT',
    redirects: ['https://chatgpt.com/connector_platform_oauth_redirect'],
    alsoRedirect: /^https:\/\/chatgpt\.com\/connector\/oauth\/[A-Za-z0-9_-]+$/,
  },
  {
    id: /^https:\/\/chatgpt\.com\/oauth\/codex\/([A-Za-z0-9_-]+\/)?client\.json(\?[^#]*)?$/,
    name: 'Codex',
    redirects: ['http://127.0.0.1/callback', 'http://localhost/callback'],
    alsoRedirect: /^http:\/\/(127\.0\.0\.1|localhost)(:\d{1,5})?\/callback\/[A-Za-z0-9_-]+$/,
  },
  {
    id: /^https:\/\/opencode\.ai\/oauth\/opencode\/client\.json$/,
    name: 'OpenCode',
    redirects: ['http://127.0.0.1/mcp/oauth/callback', 'http://localhost/mcp/oauth/callback'],
    alsoRedirect: /^http:\/\/(127\.0\.0\.1|localhost)(:\d{1,5})?\/[A-Za-z0-9_/-]*$/,
  },
  {
    id: /^https:\/\/cursor\.com\/oauth\/mcp-client\.json$/,
    name: 'Cursor',
    redirects: [
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'http://localhost:8787/callback',
    ],
  },
];

/** Our copy of the document of a well-known client, with the given address if it is one that the client makes. */
export function findKnownClient(id: string, redirect: string | null): ClientDocument | null {
  const known = KNOWN_CLIENTS.find((client) => client.id.test(id));
  if (!known) return null;
  const { name, redirects, alsoRedirect } = known;
  return { name, redirects: redirect !== null && alsoRedirect?.test(redirect) ? [...redirects, redirect] : redirects };
}
