import { parseId } from '@carillon/contract/validation/formats';
import { NO_ERRORS } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import type { PageRoutes } from '../../http/routes.ts';
import { redirect, type UserPageContext, unwrap } from '../../page.ts';
import { readFormValues, toRecurrenceValues } from './form-values.ts';
import { withProblems } from './problems.ts';
import { estimateCost, renderCost } from './schedule/cost.ts';
import { renderPattern, renderRecurrence, renderSentence } from './schedule/fields.ts';
import { planRuns } from './schedule/plan.ts';
import { renderRuns } from './schedule/runs.ts';
import { readLimits } from './settings/read-settings.ts';
import { showWebTools } from './settings/web-tools.ts';
import { showNewTask, showStoredTask } from './show.ts';
import { showLook } from './sources/look.ts';
import { submitTask } from './submit.ts';
import { showPromptPreview } from './trial/prompt-preview.ts';

/** The next runs and their cost while the form is filled in, with the other form of the schedule. */
async function showRuns(context: UserPageContext) {
  const { texts } = context;
  const form = readForm(context.request);
  const values = readFormValues(form);
  const plannedRuns = parseId(form.text('plannedRuns')) ?? 0;
  const plan = await planRuns(context, values, null, { ...readLimits(values, null, texts), plannedRuns });
  const cost = await estimateCost(context, values, plan, {
    id: parseId(form.text('task')) ?? undefined,
    plannedRuns,
  });
  const { words, cron } = plan;
  const errors = withProblems(plan.problems);
  return html`${renderRuns(context, plan, values.timezone)}${renderCost(context, cost)}${renderSentence(values, plan, texts, true)}${
    values.mode === 'words' && cron !== null && renderPattern({ ...values, cron }, NO_ERRORS, texts, true)
  }${values.mode === 'cron' && words && renderRecurrence({ ...values, ...toRecurrenceValues(words, context.now) }, errors, texts, true)}`;
}

async function duplicate(context: UserPageContext) {
  const { taskId } = unwrap(await context.actions.duplicateTask(context.session, { id: readId(context) }));
  return redirect(`/tasks/${taskId}/edit`, context.texts.taskForm.copied);
}

export function taskFormPages({ user, longForm, fragment }: PageRoutes): void {
  user('GET', '/tasks/new', showNewTask);
  longForm('/tasks/new', (context) => submitTask(context, null));
  fragment('POST', '/tasks/new/runs', showRuns);
  fragment('GET', '/tasks/new/tools', showWebTools);
  fragment('POST', '/tasks/new/sent', (context) => showPromptPreview(context, null));
  fragment('POST', '/tasks/:id/sent', (context) => showPromptPreview(context, readId(context)));
  fragment('POST', '/tasks/new/look', showLook);
  user('GET', '/tasks/:id/edit', (context) => showStoredTask(context, readId(context)));
  longForm('/tasks/:id/edit', (context) => submitTask(context, readId(context)));
  user('POST', '/tasks/:id/duplicate', duplicate);
}
