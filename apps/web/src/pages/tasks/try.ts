import { readId } from '../../http/path-ids.ts';
import { type Page, type UserPageContext, unwrap } from '../../page.ts';
import { tryStoredTask } from '../task-form/submit.ts';
import { renderTaskPage } from './task.ts';

/** Shows what the prompt is answered now. The task keeps its runs. */
export async function tryTaskNow(context: UserPageContext): Promise<Page> {
  const id = readId(context);
  return tryStoredTask(context, id, async ({ status, ...outcome }) => {
    const view = unwrap(await context.actions.getTaskPage(context.session, { id }));
    // The address is one that cannot be opened, so the page does not refresh itself.
    return { ...renderTaskPage(context, view, { outcome }), isLive: false, ...(status !== undefined && { status }) };
  });
}
