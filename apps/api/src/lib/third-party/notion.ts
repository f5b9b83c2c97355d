import type { NotesWorkspace } from '@carillon/contract/integrations';
import { type JsonObject, toObject, toText } from '../egress/json.ts';
import type { ThirdPartyTool } from './tool.ts';

const VERSION = '2026-03-11';
const UNNAMED = 'Notion workspace';

/** An integration's user is a bot with a workspace; a personal token's has none. */
export const notion: ThirdPartyTool<NotesWorkspace> = {
  name: 'Notion',
  credential: 'key',
  prefixes: ['ntn_', 'secret_'],
  path: '/v1/users/me',
  buildHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}`, 'notion-version': VERSION }),
  readOwner(body) {
    const user = toObject(body);
    const userId = toText(user.id);
    if (user.object !== 'user' || userId === null) return null;
    if (user.type === 'person') return { name: UNNAMED, owner: getUserName(user), id: userId };
    const bot = toObject(user.bot);
    const owner = toObject(bot.owner);
    const name = toText(bot.workspace_name) ?? UNNAMED;
    return {
      name,
      owner: owner.type === 'user' ? getUserName(toObject(owner.user)) : name,
      id: toText(bot.workspace_id) ?? userId,
    };
  },
  explainRefusal: () => 'Notion refused the key: it is wrong, or was revoked.',
};

/** Notion sends the address only to integrations that may see it. */
const getUserName = (user: JsonObject) => toText(user.name) ?? toText(toObject(user.person).email) ?? 'Notion user';
