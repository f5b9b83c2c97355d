import { parseId } from '@carillon/contract/primitives';
import { redirect } from '../../answer.ts';
import { NO_ERRORS } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import type { PageRoutes } from '../../http/routes.ts';
import { ActionStop, type SignedInVisit, unwrap } from '../../visit.ts';
import { startFirstTask } from './first.ts';
import { withProblems } from './problems.ts';
import { planRuns } from './schedule/plan.ts';
import { renderRuns } from './schedule/runs.ts';
import { renderPattern, renderSentence, renderWords } from './schedule/when.ts';
import { readLimits } from './settings/read-settings.ts';
import { readTypedSettings } from './settings/typed-settings.ts';
import { showWebTools } from './settings/web-tools.ts';
import { showNewTask, showStoredTask, submitTask } from './submit.ts';
import { showSent } from './try/sent.ts';
import { readSchedule, typeWords } from './typed.ts';

/** The id in the address. Stops with the page for what does not exist. */
function readTaskId({ request }: SignedInVisit): number {
  const id = parseId((request.params as { id: string }).id);
  if (id === null) throw new ActionStop({ success: false, error: 'Task not found', code: 'NOT_FOUND' });
  return id;
}

/** The next runs while the form is filled in, with the other form of the schedule. */
async function showRuns(visit: SignedInVisit) {
  const form = readForm({ body: visit.request.query });
  const typed = { ...readSchedule(form), ...readTypedSettings(form) };
  const plannedRuns = parseId(form.text('plannedRuns')) ?? 0;
  const plan = await planRuns(visit, typed, null, { ...readLimits(typed, null), plannedRuns });
  const { words, cron } = plan;
  const errors = withProblems(plan.problems);
  return html`${renderRuns(plan, typed.timezone, visit.now)}${renderSentence(typed, plan, true)}${
    typed.mode === 'words' && cron !== null && renderPattern({ ...typed, cron }, NO_ERRORS, true)
  }${typed.mode === 'cron' && words && renderWords({ ...typed, ...typeWords(words) }, errors, true)}`;
}

async function duplicate(visit: SignedInVisit) {
  const { taskId } = unwrap(await visit.actions.duplicateTask(visit.session, { id: readTaskId(visit) }));
  return redirect(`/tasks/${taskId}/edit`, 'This is the copy. Change what should differ, then save it.');
}

export function taskFormPages({ user, fragment }: PageRoutes): void {
  user('GET', '/tasks/new', showNewTask);
  user('POST', '/tasks/new', (visit) => submitTask(visit, null));
  fragment('GET', '/tasks/new/runs', showRuns);
  fragment('GET', '/tasks/new/tools', showWebTools);
  fragment('POST', '/tasks/new/sent', (visit) => showSent(visit, null));
  fragment('POST', '/tasks/:id/sent', (visit) => showSent(visit, readTaskId(visit)));
  user('POST', '/tasks/first', startFirstTask);
  user('GET', '/tasks/:id/edit', (visit) => showStoredTask(visit, readTaskId(visit)));
  user('POST', '/tasks/:id/edit', (visit) => submitTask(visit, readTaskId(visit)));
  user('POST', '/tasks/:id/duplicate', duplicate);
}
