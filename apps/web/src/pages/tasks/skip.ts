import { toFormErrors } from '../../components/fields.ts';
import { renderNotFound } from '../../http/errors.ts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import type { PageResponse, UserPageContext } from '../../page.ts';
import { redirect } from '../../page.ts';
import { isOwnTask } from './changes.ts';

/** Skips the next run that the page has shown. */
export async function skipNext(context: UserPageContext): Promise<PageResponse> {
  const { actions, session, request } = context;
  const { tasks, formats } = context.texts;
  const id = readId(context);
  if (!(await isOwnTask(context, id))) return renderNotFound(context);
  const to = `/tasks/${id}`;
  const plannedFor = readForm(request).text('plannedFor');
  const result = await actions.skipNextRun(session, { id, plannedFor });
  if (result.success) {
    return redirect(to, tasks.skipped(formats.moment(new Date(plannedFor), context)));
  }
  const { form } = toFormErrors(result, context.texts);
  return { to, notice: { kind: 'warn', text: tasks.notSkipped(form ?? tasks.noSuchRun) } };
}
