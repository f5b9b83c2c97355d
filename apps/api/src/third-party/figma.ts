import type { DesignUser } from '@carillon/contract/integrations';
import { fieldsOf, textIn } from '../ai/json-fields.ts';
import type { Tool } from './integrations.ts';

/** Whose token it is: `GET /v1/me`. Tokens of OAuth apps, which begin with `figu_`, go another way than personal ones. */
export const figma: Tool<DesignUser> = {
  name: 'Figma',
  credential: 'token',
  path: '/v1/me',
  headers: (token): Record<string, string> =>
    token.startsWith('figu_') ? { authorization: `Bearer ${token}` } : { 'x-figma-token': token },
  read(body) {
    const user = fieldsOf(body);
    const [id, email] = [textIn(user.id), textIn(user.email)];
    if (id === null || email === null) return null;
    return { name: textIn(user.handle) ?? email, email, id };
  },
  explain(body) {
    const { err, message } = fieldsOf(body);
    return /scope/i.test(`${err} ${message}`)
      ? 'Figma refused the token: it lacks the scope current_user:read.'
      : 'Figma refused the token: it is wrong, has expired, or was revoked.';
  },
};
