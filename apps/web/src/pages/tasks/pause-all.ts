import { parseLocalTime } from '../../components/schedule/local-time.ts';
import { readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { describeOutcomes } from './changes.ts';
import { renderTasks } from './list.ts';
import { readListQuery } from './list-query.ts';
import { renderPauseAllForm } from './pause-all-control.ts';

/** Pauses all tasks, or resumes those that are paused until a time. */
export async function pauseAll(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session, texts, now, timeZone } = context;
  const form = readForm(context.request);
  const resumed = form.text('resume');
  if (resumed !== '') {
    return {
      to: '/tasks',
      notice: describeOutcomes(texts, unwrap(await actions.endPause(session, { until: resumed })), 'resumed'),
    };
  }
  const value = form.text('until').trim();
  const until = parseLocalTime(value, timeZone);
  if (until === null || until <= now) {
    const errors = {
      fields: { until: [until === null ? texts.tasks.dateMissing : texts.tasks.notInFuture] },
      form: null,
    };
    const list = unwrap(await actions.getTaskList(session, { sort: 'next' }));
    // The address is one that cannot be opened, so the page does not refresh itself.
    return {
      ...renderTasks(context, readListQuery(context.request), list, renderPauseAllForm(context, value, errors)),
      isLive: false,
      status: 422,
    };
  }
  const outcomes = unwrap(await actions.pauseAllTasks(session, { until: until.toISOString() }));
  // The page says which tasks are paused.
  if (outcomes.refused.length === 0) return redirect('/tasks');
  return { to: '/tasks', notice: describeOutcomes(texts, outcomes, 'paused') };
}
