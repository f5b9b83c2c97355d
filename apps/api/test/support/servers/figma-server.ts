import { startToolServer } from './tool-server.ts';

interface Test {
  after(work: () => unknown): unknown;
}

interface FigmaToken {
  scopes?: string[];
  user?: object;
}

export const FIGMA_USER = {
  id: '1012345678901234567',
  email: 'alice@example.com',
  handle: 'Alice Example',
  img_url: 'https://www.gravatar.com/avatar/0',
};
const REQUIRED_SCOPE = 'current_user:read';

/** Starts a server with `GET /v1/me` of Figma's API. */
export function startFigmaServer(t: Test, tokens: Record<string, FigmaToken>) {
  const refuse = (status: number, err: string) => ({ status, body: { status, err } });
  return startToolServer(t, ({ method, url, headers }) => {
    if (method !== 'GET' || url !== '/v1/me') return refuse(404, 'Not found');
    const token = tokens[String(headers['x-figma-token'])];
    if (!token) return refuse(403, 'Invalid token');
    const { scopes = [REQUIRED_SCOPE], user = FIGMA_USER } = token;
    if (scopes.includes(REQUIRED_SCOPE)) return { status: 200, body: user };
    return refuse(403, `Invalid scope(s): ${scopes.join(', ')}. This endpoint requires the ${REQUIRED_SCOPE} scope`);
  });
}
