import { startToolServer } from './tool-server.ts';

interface Test {
  after(work: () => unknown): unknown;
}

interface FigmaToken {
  /** `oauth` goes as a bearer token, `personal` in a header of Figma's own; each is unknown in the other's place. */
  kind: 'personal' | 'oauth';
  scopes?: string[];
  user?: object;
}

export const FIGMA_USER = {
  id: '1012345678901234567',
  email: 'alice@example.com',
  handle: 'Alice Example',
  img_url: 'https://www.gravatar.com/avatar/0',
};
const NEEDED = 'current_user:read';

/** Figma's API as far as whose token it is. */
export function startFigmaServer(t: Test, tokens: Record<string, FigmaToken>) {
  const refuse = (status: number, err: string) => ({ status, body: { status, err } });
  return startToolServer(t, ({ method, url, headers }) => {
    if (method !== 'GET' || url !== '/v1/me') return refuse(404, 'Not found');
    const [, bearer] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    const given = bearer ?? headers['x-figma-token'];
    const token = tokens[String(given)];
    if (token?.kind !== (bearer === undefined ? 'personal' : 'oauth')) return refuse(403, 'Invalid token');
    const { scopes = [NEEDED], user = FIGMA_USER } = token;
    if (scopes.includes(NEEDED)) return { status: 200, body: user };
    return refuse(403, `Invalid scope(s): ${scopes.join(', ')}. This endpoint requires the ${NEEDED} scope`);
  });
}
