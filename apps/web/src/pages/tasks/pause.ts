import { isTimeZone } from '@carillon/contract/validation/formats';
import { type FormErrors, toFormErrors, toStatus } from '../../components/fields.ts';
import { parseLocalTime } from '../../components/schedule/local-time.ts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { renderTaskPage } from './task.ts';

/** Pauses a task until a date and time in its zone, or resumes it. */
export async function pauseUntil(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const { actions, session, now } = context;
  const { tasks, formats } = context.texts;
  const form = readForm(context.request);
  if (form.text('do') === 'resume') {
    unwrap(await actions.pauseTaskUntil(session, { id, until: null }));
    return redirect(`/tasks/${id}`, tasks.resumed);
  }
  const values = form.text('pausedUntil').trim();
  const timezone = form.text('timezone');
  const until = isTimeZone(timezone) ? parseLocalTime(values, timezone) : null;
  const show = async (errors: FormErrors, status: number): Promise<Page> => {
    const view = unwrap(await actions.getTaskPage(session, { id }));
    // The address is one that cannot be opened, so the page does not refresh itself.
    return { ...renderTaskPage(context, view, { refusedPause: { values, errors } }), isLive: false, status };
  };
  const problem = until === null ? tasks.dateMissing : until <= now ? tasks.notInFuture : null;
  if (until === null || problem !== null) return show({ fields: { pausedUntil: [problem ?? ''] }, form: null }, 422);
  const result = await actions.pauseTaskUntil(session, { id, until: until.toISOString() });
  if (!result.success) return show(toFormErrors(result, context.texts), toStatus(result));
  return redirect(`/tasks/${id}`, tasks.pausedUntil(formats.moment(until, context)));
}
