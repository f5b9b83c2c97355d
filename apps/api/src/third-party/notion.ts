import type { NotesWorkspace } from '@carillon/contract/integrations';
import { fieldsOf, textIn } from '../ai/json-fields.ts';
import type { Tool } from './integrations.ts';

const VERSION = '2026-03-11';
const UNNAMED = 'Notion workspace';

/**
 * Whose key it is: `GET /v1/users/me`. The secret of an integration is answered with its bot, which belongs to the
 * workspace or to the person who let it in; a personal access token with the person, of whose workspace nothing is said.
 */
export const notion: Tool<NotesWorkspace> = {
  name: 'Notion',
  credential: 'key',
  path: '/v1/users/me',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}`, 'notion-version': VERSION }),
  read(body) {
    const user = fieldsOf(body);
    const userId = textIn(user.id);
    if (user.object !== 'user' || userId === null) return null;
    if (user.type === 'person') return { name: UNNAMED, owner: nameOf(user), id: userId };
    const bot = fieldsOf(user.bot);
    const owner = fieldsOf(bot.owner);
    const name = textIn(bot.workspace_name) ?? UNNAMED;
    return {
      name,
      owner: owner.type === 'user' ? nameOf(fieldsOf(owner.user)) : name,
      id: textIn(bot.workspace_id) ?? userId,
    };
  },
  explain: () => 'Notion refused the key: it is wrong, or was revoked.',
};

/** The address only where Notion tells it, which depends on what the integration may see. */
const nameOf = (user: Record<string, unknown>) =>
  textIn(user.name) ?? textIn(fieldsOf(user.person).email) ?? 'Notion user';
