import type { WebTool } from '@carillon/contract/tasks/run-settings';
import type { Texts } from '@carillon/texts';
import type { TaskFormData } from '../../../actions.ts';
import { type FormErrors, NO_ERRORS, renderFieldError, renderInput } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import { readForm } from '../../../http/forms.ts';
import { type UserPageContext, unwrap } from '../../../page.ts';
import type { SectionProps } from './section-props.ts';
import { readSettingsValues, type SettingsValues } from './settings-values.ts';

export type Offer = TaskFormData['webTools'];

/** Why a model has no web tools, and what to do. */
function explainAbsence(model: string, absent: Exclude<Offer['absent'], null>, { taskForm }: Texts): string {
  switch (absent) {
    case 'off':
      return taskForm.toolsOff;
    case 'offline':
      return taskForm.toolsOffline;
    case 'provider':
      return model === '' ? taskForm.toolsAbsent : taskForm.toolsAbsentFor(model);
  }
}

/** What is wrong with the selected tools; null if the model has all of them. */
export function findMissingTools(
  { tools, aiModel }: SettingsValues & { aiModel: string },
  offer: Offer,
  texts: Texts,
): string | null {
  const offered: readonly string[] = offer.tools;
  if (tools.every((tool) => offered.includes(tool)) || offer.absent === null) return null;
  return texts.taskForm.toolsMissing(explainAbsence(aiModel, offer.absent, texts));
}

interface FormValues extends Pick<SettingsValues, 'tools' | 'maxToolUses' | 'requireTools'> {
  aiModel: string;
}

const renderTool = (value: WebTool, text: string, hint: string, tools: readonly string[]): Html =>
  html`<label class="check"><input type="checkbox" name="tools" value="${value}"${tools.includes(value) && raw(' checked')}><span>${text}<span class="hint">${hint}</span></span></label>`;

function renderBoxes({ tools, maxToolUses, requireTools }: FormValues, errors: FormErrors, { taskForm }: Texts): Html {
  const isWrong = errors.fields.tools !== undefined;
  return html`<fieldset class="ticks" id="tools"${isWrong && raw(' aria-describedby="tools-error" tabindex="-1"')}><legend>${taskForm.tools}</legend>
${renderTool('web_search', taskForm.search, taskForm.searchHint, tools)}${renderTool('web_fetch', taskForm.fetch, taskForm.fetchHint, tools)}${renderFieldError('tools', errors)}</fieldset>
${renderInput({
  name: 'maxToolUses',
  label: taskForm.maxUses,
  type: 'number',
  value: maxToolUses,
  attributes: raw('class="short" min="1" max="20"'),
  hint: taskForm.maxUsesHint,
  errors,
})}
<label class="check"><input type="checkbox" name="requireTools"${requireTools && raw(' checked')}><span>${taskForm.requireTools}<span class="hint">${taskForm.requireToolsHint}</span></span></label>`;
}

/** Tools that are chosen already stay, so that they can be unticked. */
function renderOffer(values: FormValues, offer: Offer, errors: FormErrors, texts: Texts): Html {
  const { absent } = offer;
  if (absent === null) return renderBoxes(values, errors, texts);
  const why = html`<p class="hint">${explainAbsence(values.aiModel, absent, texts)}</p>`;
  if (values.tools.length > 0)
    return html`${errors.fields.tools === undefined && why}${renderBoxes(values, errors, texts)}`;
  return html`${why}<input type="hidden" name="maxToolUses" value="${values.maxToolUses}">`;
}

/** Which tools of its provider the model may use. */
export function renderWebTools({ values, formData: { webTools, task, models }, errors, texts }: SectionProps): Html {
  const path = task ? `/tasks/${task.id}/edit` : '/tasks/new';
  return html`<div class="gap" id="offer" aria-live="polite" hx-get="/tasks/new/tools" hx-trigger="change from:#aiModel" hx-include="#aiModel, #web" hx-swap="innerHTML" hx-sync="this:replace">${renderOffer(values, webTools, errors, texts)}</div>
${
  webTools.absent !== null &&
  webTools.absent !== 'off' &&
  models.kind !== 'offline' &&
  html`<noscript><button name="action" value="preview" formnovalidate formaction="${path}#web">${texts.taskForm.checkTools}</button></noscript>`
}`;
}

/** The same while the form is filled in, for the model that is chosen now. */
export async function showWebTools({ request, actions, session, texts }: UserPageContext): Promise<Html> {
  const form = readForm({ body: request.query });
  const values = { ...readSettingsValues(form), aiModel: form.text('aiModel').trim() };
  const offer = unwrap(await actions.findWebTools(session, { aiModel: values.aiModel }));
  return renderOffer(values, offer, NO_ERRORS, texts);
}
