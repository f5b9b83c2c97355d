import type { Texts } from '@carillon/texts';
import { renderRadios, renderTick } from '../../../components/choices.ts';
import { type FormErrors, renderFormError, renderInput } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { Form } from '../../../http/forms.ts';
import type { UserPageContext } from '../../../page.ts';
import { toNumber } from '../requests.ts';

/** Without the key, which is not kept over a confirmation. */
export const FIELDS = ['name', 'kind', 'baseUrl', 'maxConcurrent', 'model', 'isDefaultModel'] as const;
export type ProviderValues = Record<(typeof FIELDS)[number], string>;

export const EMPTY_PROVIDER: ProviderValues = {
  name: '',
  kind: 'openai',
  baseUrl: '',
  maxConcurrent: '',
  model: '',
  isDefaultModel: '',
};

/** What a test call has shown. */
export interface Tested {
  ok: boolean;
  model: string;
  ms: number;
  message: string;
}

export const readProvider = (form: Form): ProviderValues =>
  Object.fromEntries(FIELDS.map((name) => [name, form.text(name).trim()])) as ProviderValues;

/** The fields of the API. An empty key says nothing. */
export function toInput({ name, kind, baseUrl, maxConcurrent }: ProviderValues, apiKey: string) {
  return {
    name,
    // The contract refuses unknown kinds.
    kind: kind as 'openai',
    baseUrl,
    ...(apiKey !== '' && { apiKey }),
    maxConcurrent: maxConcurrent === '' ? null : toNumber(maxConcurrent),
  };
}

const renderTested = ({ ok, model, ms, message }: Tested, texts: Texts['providers']): Html =>
  html`<div class="notice${!ok && ' warn'}" role="status"><p><b>${ok ? texts.answered(model, ms) : texts.notAnswered(ms)}.</b> ${message}</p></div>`;

/** The fields of a provider. */
export function renderProviderFields(
  { texts: all }: UserPageContext,
  values: ProviderValues,
  errors: FormErrors,
  { hasKey, tested, isNew }: { hasKey: boolean; tested: Tested | null; isNew: boolean },
): Html {
  const texts = all.providers;
  const kinds = [
    { value: 'openai', text: texts.openai, hint: texts.openaiHint },
    { value: 'anthropic', text: texts.anthropic, hint: texts.anthropicHint },
  ];
  return html`${renderFormError(errors, all)}${tested && renderTested(tested, texts)}
${renderInput({
  name: 'name',
  label: texts.name,
  value: values.name,
  required: true,
  errors,
  attributes: raw('maxlength="32" spellcheck="false" autocapitalize="none"'),
  hint: texts.nameHint,
})}
${renderRadios({ name: 'kind', legend: texts.kind, choices: kinds, value: values.kind, errors })}
${renderInput({
  name: 'baseUrl',
  label: texts.address,
  type: 'url',
  value: values.baseUrl,
  required: true,
  errors,
  attributes: raw('maxlength="2048" placeholder="https://openrouter.ai/api/v1"'),
  hint: texts.addressHint,
})}
${renderInput({
  name: 'apiKey',
  label: hasKey ? texts.newKey : texts.apiKey,
  type: 'password',
  value: '',
  errors,
  attributes: raw('maxlength="1000" autocomplete="off"'),
  hint: hasKey ? texts.keyStays : texts.keyHint,
})}
${renderInput({
  name: 'maxConcurrent',
  label: texts.limit,
  type: 'number',
  value: values.maxConcurrent,
  errors,
  attributes: raw('class="short" min="1" max="1000"'),
  hint: texts.limitHint,
})}
${renderInput({
  name: 'model',
  label: texts.model,
  value: values.model,
  errors,
  attributes: raw('maxlength="200" spellcheck="false" autocapitalize="none"'),
  hint: texts.modelHint,
})}
${isNew && renderTick('isDefaultModel', values.isDefaultModel !== '', texts.useModel, texts.useModelHint)}`;
}
