import type { Texts } from '@carillon/texts';
import { type FormErrors, NO_ERRORS, renderInput, renderSelect, renderTextarea } from '../../components/fields.ts';
import { toLocalTime } from '../../components/schedule/local-time.ts';
import { formatZone } from '../../components/schedule/render.ts';
import { type Html, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import type { UserPageContext } from '../../page.ts';
import { type Page, type Redirect, redirect } from '../../page.ts';
import { createFormValues, type FormValues } from './form-values.ts';
import { renderProblems, toTaskErrors, toTaskStatus, withProblems } from './problems.ts';
import { planRuns } from './schedule/plan.ts';
import { describeNextRun } from './submit.ts';

/** The short form of a first task. */
export interface FirstTaskValues {
  prompt: string;
  every: string;
  at: string;
}

export const START_FIRST_TASK: FirstTaskValues = { prompt: '', every: 'day', at: '07:00' };

/** A prompt and its time, for a person without a task. */
export function renderFirstTaskForm(
  { csrfField, timeZone, texts }: UserPageContext,
  values: FirstTaskValues = START_FIRST_TASK,
  errors: FormErrors = NO_ERRORS,
): Html {
  const { taskForm, schedule } = texts;
  const options = Object.entries(taskForm.firstEvery).map(([value, text]) => ({ value, text }));
  return html`<form class="panel gap" id="first-task" method="post" action="/tasks/first">${csrfField}
${renderTextarea({ name: 'prompt', label: taskForm.fields.prompt, value: values.prompt, required: true, rows: 5, placeholder: taskForm.firstExample, errors })}
<div class="sentence">${renderSelect({ name: 'every', label: taskForm.every, options, value: values.every, errors })}${renderInput(
    { name: 'at', label: taskForm.at, type: 'time', value: values.at, required: true, errors },
  )}<p class="muted">${schedule.zoneTime(formatZone(timeZone))}</p></div>
<div class="do"><button class="primary" name="action" value="try">${taskForm.saveAndTry}</button><button name="action" value="save">${taskForm.saveOnly}</button><a class="button quiet" href="/tasks/new">${taskForm.allSettings}</a></div>
</form>`;
}

const NAME_LENGTH = 60;

/** The first words of the prompt. */
export function nameTask(prompt: string, { taskForm }: Texts): string {
  const [line = ''] = prompt.trim().split('\n', 1);
  const words = line.split(/\s+/u);
  let name = '';
  for (const word of words) {
    if ([...name, ...word].length >= NAME_LENGTH) break;
    name = name === '' ? word : `${name} ${word}`;
  }
  const short = name || [...line].slice(0, NAME_LENGTH).join('');
  const text = short.replace(/[\s,;:.!?…]+$/u, '');
  return [...text].length >= 3 ? text : taskForm.unnamed(text);
}

/** On the day of the week, or of the month, that it is today. */
function completeValues({ timeZone, now, texts }: UserPageContext, { every, at, prompt }: FirstTaskValues): FormValues {
  const today = toLocalTime(now, timeZone);
  const values = { ...createFormValues(timeZone, now, ''), at, prompt, name: nameTask(prompt, texts) };
  if (every === 'weekday') return { ...values, every: 'week' };
  if (every === 'week') return { ...values, every: 'week', weekdays: [`${today.weekday}`] };
  return every === 'month'
    ? { ...values, every: 'month', day: today.day > 28 ? 'last' : `${today.day}` }
    : { ...values, every: 'day' };
}

/** Saves the first task, runs it at once, and goes to the run. */
export async function startFirstTask(context: UserPageContext): Promise<Page | Redirect> {
  const form = readForm(context.request);
  const given = { prompt: form.text('prompt'), every: form.text('every'), at: form.text('at') };
  const { actions, session, texts } = context;
  const { taskForm, home } = texts;
  const values = completeValues(context, given);
  const { schedule, problems } = await planRuns(context, values, null);
  const show = (errors: FormErrors, status: number): Page => ({
    title: home.firstTask,
    breadcrumb: { href: '/', text: home.title },
    status,
    body: html`${renderProblems(errors, taskForm.notSaved)}${renderFirstTaskForm(context, given, errors)}`,
  });
  if (!schedule) return show(withProblems(problems), 422);
  const input = { name: values.name, prompt: values.prompt, ...schedule };
  if (form.text('action') === 'save') {
    const result = await actions.createTask(session, input);
    if (!result.success) return show(toTaskErrors(result, texts), toTaskStatus(result));
    return redirect(
      `/tasks/${result.data.taskId}`,
      `${taskForm.saved} ${describeNextRun(context, schedule.scheduledFor)}`,
    );
  }
  const result = await actions.createTaskAndRun(session, input);
  if (!result.success) return show(toTaskErrors(result, texts), toTaskStatus(result));
  const { taskId, executionId, refusal } = result.data;
  if (executionId === null) {
    return redirect(`/tasks/${taskId}`, refusal === 'trial' ? taskForm.savedTrialEnded : taskForm.savedQuotaUsed);
  }
  return redirect(
    `/executions/${executionId}`,
    `${taskForm.savedAndRunning} ${describeNextRun(context, schedule.scheduledFor)}`,
  );
}
