import type { TaskSettingsInput } from '@carillon/contract/actions/web/task-form';
import { fillBlanks } from '@carillon/contract/tasks/templates';
import { toFormErrors } from '../../../components/fields.ts';
import { type Html, html } from '../../../html.ts';
import { readForm } from '../../../http/forms.ts';
import type { UserPageContext } from '../../../page.ts';
import { type FormValues, readFormValues } from '../form-values.ts';
import { nameTask } from '../name-task.ts';
import { nameFields } from '../problems.ts';
import { readSettings } from '../settings/read-settings.ts';
import { fillSources, toTexts } from '../template/blanks.ts';

/** What names the task to an action, as the form has it. */
export const describeTask = (
  {
    name,
    timezone,
    context,
    outputSchema = null,
    tools = [],
    inputs = [],
    sources = [],
  }: TaskSettingsInput & { timezone: string },
  taskId: number | null,
) => ({ name, timezone, context, outputSchema, tools, inputs, sources, ...(taskId !== null && { taskId }) });

/** What a run that starts now would send; a sentence where that cannot be said. */
export async function renderPromptPreview(
  { actions, session, texts }: UserPageContext,
  values: FormValues,
  id: number | null,
): Promise<Html> {
  const filled = { ...values, sources: fillSources(values) };
  const { context, outputSchema, tools, inputs, sources } = readSettings(filled, null, texts).settings;
  const { timezone } = values;
  const { name, prompt } = fillBlanks(
    { prompt: values.prompt, name: values.name.trim() || nameTask(values.prompt, texts) },
    toTexts(values.blanks),
  );
  const task = describeTask({ name, timezone, prompt, context, outputSchema, tools, inputs, sources }, id);
  const result = await actions.previewPrompt(session, { prompt, ...task });
  if (!result.success) {
    const { fields, form } = toFormErrors(result, texts);
    const [message = ''] = [form ?? Object.values(nameFields(fields, texts)).flat()].flat();
    return html`<p class="muted">${message.replace(/\.$/, '')}.</p>`;
  }
  const { taskForm } = texts;
  const { system, prompt: sent } = result.data;
  return html`<p class="hint">${taskForm.promptPreview}</p>${
    system !== null &&
    html`<h3 id="sent-system">${taskForm.systemMessage}</h3><pre tabindex="0" role="group" aria-labelledby="sent-system">${system}</pre>`
  }<h3 id="sent-prompt">${taskForm.fields.prompt}</h3><pre tabindex="0" role="group" aria-labelledby="sent-prompt">${sent}</pre>`;
}

/** The same while the form is filled in. */
export function showPromptPreview(context: UserPageContext, id: number | null): Promise<Html> {
  return renderPromptPreview(context, readFormValues(readForm(context.request)), id);
}
