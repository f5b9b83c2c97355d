import type { Actions } from '@carillon/contract/actions';
import type { Context } from '../context.ts';
import { accountActions } from './account.ts';
import { adminActions } from './admin.ts';
import { createActionBuilder } from './create-action.ts';
import { executionActions } from './executions.ts';
import { taskActions } from './tasks.ts';
import { webhookActions } from './webhooks.ts';

export type { ActionData, ActionError, ActionInput, ActionResult, Actions } from '@carillon/contract/actions';

/**
 * The in-process door (specification "Server actions", decisions §12): for a web client that runs on the server, beside
 * the API or in a process of its own. It needs a `Context`: that of `openContext`, once for a process.
 *
 *     import { buildActions } from '@carillon/api/actions';
 *     import { loadConfig } from '@carillon/api/config/config';
 *     import { openContext } from '@carillon/api/open-context';
 *
 *     const { ctx, close } = await openContext(loadConfig(process.env));
 *     const actions = buildActions(ctx);
 *     const answer = await actions.createTask(cookies.get('local-session') ?? null, input);
 *     if (!answer.success) return show(answer.error, answer.code);
 *
 * `session` is the text that the cookie or the bearer header carries. Whoever calls an action for a browser has to have
 * made sure that the request comes from its own pages, and has to bound what strangers may send, as both are told by
 * headers and addresses that nobody sees here.
 */
export function buildActions(ctx: Context): Actions {
  const doors = createActionBuilder(ctx);
  return {
    ...taskActions(doors),
    ...executionActions(doors),
    ...accountActions(doors),
    ...adminActions(doors),
    ...webhookActions(doors),
  };
}
