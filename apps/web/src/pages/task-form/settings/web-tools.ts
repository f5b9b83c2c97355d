import type { WebTool } from '@carillon/contract/tasks/run-settings';
import { type FormErrors, NO_ERRORS, renderFieldError, renderInput } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import { readForm } from '../../../http/forms.ts';
import { type UserPageContext, unwrap } from '../../../page.ts';
import type { TaskFormData } from '../form-data.ts';
import type { SectionProps } from './section-props.ts';
import { readSettingsValues, type SettingsValues } from './settings-values.ts';

export type Offer = TaskFormData['webTools'];

const TOOLS: readonly { value: WebTool; text: string; hint: string }[] = [
  { value: 'web_search', text: 'Search the web', hint: 'It decides itself what to search for, and names its sources.' },
  { value: 'web_fetch', text: 'Read web pages', hint: 'Those that the prompt names, or that a search has found.' },
];

/** Why a model has no web tools, and what to do. */
function explainAbsence(model: string, absent: Exclude<Offer['absent'], null>): string {
  switch (absent) {
    case 'off':
      return 'Web tools are switched off on this server.';
    case 'offline':
      return 'The built-in offline model answers, and it cannot use the web. Its tools come from an AI provider.';
    case 'provider':
      return model === ''
        ? 'The provider has no web tools. Those of Anthropic and OpenRouter have them.'
        : `The provider of ${model} has no web tools. Models of Anthropic and OpenRouter have them.`;
  }
}

/** What is wrong with the chosen tools; null if the model has all of them. */
export function findMissingTools(
  { tools, aiModel }: SettingsValues & { aiModel: string },
  offer: Offer,
): string | null {
  const offered: readonly string[] = offer.tools;
  if (tools.every((tool) => offered.includes(tool)) || offer.absent === null) return null;
  return `${explainAbsence(aiModel, offer.absent)} Untick them, or choose another model`;
}

interface FormValues extends Pick<SettingsValues, 'tools' | 'maxToolUses'> {
  aiModel: string;
}

const renderTool = ({ value, text, hint }: (typeof TOOLS)[number], tools: readonly string[]): Html =>
  html`<label class="check"><input type="checkbox" name="tools" value="${value}"${tools.includes(value) && raw(' checked')}><span>${text}<span class="hint">${hint}</span></span></label>`;

function renderBoxes({ tools, maxToolUses }: FormValues, errors: FormErrors): Html {
  const isWrong = errors.fields.tools !== undefined;
  return html`<fieldset class="ticks" id="tools"${isWrong && raw(' aria-describedby="tools-error" tabindex="-1"')}><legend>During a run the model may</legend>
${TOOLS.map((tool) => renderTool(tool, tools))}${renderFieldError('tools', errors)}</fieldset>
${renderInput({
  name: 'maxToolUses',
  label: 'Searches and pages of a run, at most',
  type: 'number',
  value: maxToolUses,
  attributes: raw('class="short" min="1" max="20"'),
  hint: 'From 1 to 20. The provider charges for searches, and what is found counts as tokens.',
  errors,
})}`;
}

/** Tools that are chosen already stay, so that they can be unticked. */
function renderOffer(values: FormValues, offer: Offer, errors: FormErrors): Html {
  const { absent } = offer;
  if (absent === null) return renderBoxes(values, errors);
  const why = html`<p class="hint">${explainAbsence(values.aiModel, absent)}</p>`;
  if (values.tools.length > 0) return html`${errors.fields.tools === undefined && why}${renderBoxes(values, errors)}`;
  return html`${why}<input type="hidden" name="maxToolUses" value="${values.maxToolUses}">`;
}

/** Which tools of its provider the model may use. */
export function renderWebTools({ values, formData: { webTools, task, models }, errors }: SectionProps): Html {
  const path = task ? `/tasks/${task.id}/edit` : '/tasks/new';
  return html`<div class="gap" id="offer" aria-live="polite" hx-get="/tasks/new/tools" hx-trigger="change from:#aiModel" hx-include="#aiModel, #web" hx-swap="innerHTML" hx-sync="this:replace">${renderOffer(values, webTools, errors)}</div>
${
  webTools.absent !== null &&
  webTools.absent !== 'off' &&
  models.kind !== 'offline' &&
  html`<noscript><button name="action" value="preview" formnovalidate formaction="${path}#web">Look again after another model is chosen</button></noscript>`
}`;
}

/** The same while the form is filled in, for the model that is chosen now. */
export async function showWebTools({ request, actions, session }: UserPageContext): Promise<Html> {
  const form = readForm({ body: request.query });
  const values = { ...readSettingsValues(form), aiModel: form.text('aiModel').trim() };
  const offer = unwrap(await actions.findWebTools(session, { aiModel: values.aiModel }));
  return renderOffer(values, offer, NO_ERRORS);
}
