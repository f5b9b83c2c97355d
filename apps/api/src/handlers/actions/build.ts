import type { Actions } from '../../../types/actions.d.ts';
import type { Context } from '../../context.ts';
import { accountActions } from './account.ts';
import { adminActions } from './admin.ts';
import { createActionBuilder } from './create-action.ts';
import { executionActions } from './executions.ts';
import { sessionActions } from './sessions.ts';
import { taskActions } from './tasks.ts';
import { webhookActions } from './webhooks.ts';

/**
 * Server actions: the service functions for a web application that runs on the server, beside the API or in a process of
 * its own. `docs/consumers/actions.md` shows their use and what the application has to check itself.
 */
export function buildActions(ctx: Context): Actions {
  const builder = createActionBuilder(ctx);
  return {
    ...taskActions(builder),
    ...executionActions(builder),
    ...accountActions(builder),
    ...adminActions(builder),
    ...webhookActions(builder),
    ...sessionActions(builder),
  };
}
