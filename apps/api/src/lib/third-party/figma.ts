import type { DesignUser } from '@carillon/contract/integrations';
import { toObject, toText } from '../egress/json.ts';
import type { ThirdPartyTool } from './tool.ts';

export const figma: ThirdPartyTool<DesignUser> = {
  name: 'Figma',
  credential: 'token',
  prefixes: ['figd_'],
  path: '/v1/me',
  buildHeaders: (token) => ({ 'x-figma-token': token }),
  readOwner(body) {
    const user = toObject(body);
    const [id, email] = [toText(user.id), toText(user.email)];
    if (id === null || email === null) return null;
    return { name: toText(user.handle) ?? email, email, id };
  },
  explainRefusal(body) {
    const { err, message } = toObject(body);
    return /scope/i.test(`${err} ${message}`)
      ? 'Figma refused the token: it lacks the scope current_user:read.'
      : 'Figma refused the token: it is wrong, has expired, or was revoked.';
  },
};
