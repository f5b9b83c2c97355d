import { type FormErrors, renderField, renderInput } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { TaskFormData } from '../form-data.ts';
import type { FormValues } from '../form-values.ts';

const MODEL_HINTS = {
  listed: null,
  unknown: 'The provider gives no list of its models: write the name as it has it.',
  offline: 'No AI provider is set up: the built-in offline model answers, whatever stands here.',
};

/** A choice where the provider has a list, else a field with suggestions. */
function renderModel({ aiModel }: FormValues, { models, defaultModel, task }: TaskFormData, errors: FormErrors): Html {
  const field = { name: 'aiModel', label: 'Model', hint: MODEL_HINTS[models.kind] ?? undefined, errors };
  if (models.kind === 'listed') {
    const isKnown = models.names.includes(aiModel);
    return renderField(
      isKnown ? field : { ...field, hint: 'The provider does not list this model now.' },
      (attributes) =>
        html`<select ${attributes}>${!isKnown && html`<option selected>${aiModel}</option>`}${models.names.map(
          (name) => html`<option${name === aiModel && raw(' selected')}>${name}</option>`,
        )}</select>`,
    );
  }
  const suggested = [...new Set([defaultModel, task?.aiModel])].filter((name) => typeof name === 'string');
  return html`${renderInput({
    ...field,
    value: aiModel,
    required: true,
    attributes: raw('list="models" spellcheck="false" autocapitalize="off" maxlength="200"'),
  })}<datalist id="models">${suggested.map((name) => html`<option value="${name}"></option>`)}</datalist>`;
}

/** Which model answers, and how. */
export const renderModelFields = (values: FormValues, formData: TaskFormData, errors: FormErrors): Html =>
  html`<section class="gap" aria-labelledby="with"><h2 id="with">With</h2><div class="sentence tops">
<div class="grow">${renderModel(values, formData, errors)}</div>
${renderInput({
  name: 'maxTokens',
  label: 'Longest answer, in tokens',
  type: 'number',
  value: values.maxTokens,
  required: true,
  attributes: raw('min="1" max="200000"'),
  errors,
})}
${renderInput({
  name: 'temperature',
  label: 'Temperature, 0.00 to 2.00',
  type: 'number',
  value: values.temperature,
  required: true,
  attributes: raw('min="0" max="2" step="0.01"'),
  errors,
})}
</div></section>`;

/** Who hears of a run. */
export const renderNotificationFields = (values: FormValues, errors: FormErrors): Html =>
  html`<section class="gap" aria-labelledby="tell"><h2 id="tell">Tell me</h2><div class="halves">
${renderInput({
  name: 'notificationEmail',
  label: 'E-mail address',
  type: 'email',
  value: values.notificationEmail,
  hint: 'Optional. Gets a mail with the answer when a run ends. A new address is asked first.',
  errors,
})}
${renderInput({
  name: 'webhookUrl',
  label: 'Webhook address',
  type: 'url',
  value: values.webhookUrl,
  hint: 'Optional. Gets a signed message when a run ends.',
  errors,
})}
</div><p class="hint">Or to a chat, a phone or another mailbox: choose <a href="#channels">channels</a> below.</p></section>`;
