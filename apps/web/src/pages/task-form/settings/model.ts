import { renderField, renderInput } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { SectionProps } from './section-props.ts';

type ModelProps = Pick<SectionProps, 'values' | 'formData' | 'errors' | 'texts'>;

/** A choice where the provider has a list, else a field with suggestions. */
function renderModel({ values: { aiModel }, formData, errors, texts: { taskForm } }: ModelProps): Html {
  const { models, defaultModel, task } = formData;
  const hints = { listed: undefined, unknown: taskForm.modelsUnknown, offline: taskForm.modelOffline };
  const field = { name: 'aiModel', label: taskForm.fields.aiModel, hint: hints[models.kind], errors };
  if (models.kind === 'listed') {
    const isKnown = models.names.includes(aiModel);
    return renderField(
      isKnown ? field : { ...field, hint: taskForm.modelUnlisted },
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
export function renderModelFields(props: ModelProps): Html {
  const { values, errors, texts } = props;
  const { taskForm } = texts;
  return html`<div class="sentence tops">
<div class="grow">${renderModel(props)}</div>
${renderInput({
  name: 'maxTokens',
  label: taskForm.maxTokens,
  type: 'number',
  value: values.maxTokens,
  required: true,
  attributes: raw('min="1" max="200000"'),
  errors,
})}
${renderInput({
  name: 'temperature',
  label: taskForm.temperature,
  type: 'number',
  value: values.temperature,
  required: true,
  attributes: raw('min="0" max="2" step="0.01"'),
  errors,
})}
</div>`;
}
