import type { ChannelKind } from '@carillon/contract/channels/channels';
import type { Texts } from '@carillon/texts';
import { type FormErrors, renderFormError, renderInput, renderTextarea } from '../../components/fields.ts';
import { type Html, html, raw } from '../../html.ts';
import type { Form } from '../../http/forms.ts';
import { KIND_GUIDES, type SettingField, type SettingName } from './kinds.ts';
import { OPTION_NAMES, type OptionName, readOptions, renderOptions } from './options.ts';

/** What a person has typed, by the names of the fields. */
export type ChannelValues = Record<SettingName | OptionName | 'name', string>;

const SETTING_NAMES: readonly SettingName[] = ['url', 'botToken', 'chatId', 'topic', 'token', 'urls', 'key', 'address'];
const NAMES = [...SETTING_NAMES, ...OPTION_NAMES, 'name'] as const;

export const readFormValues = (form: Form): ChannelValues =>
  Object.fromEntries(NAMES.map((name) => [name, form.text(name).trim()])) as ChannelValues;

/** A form that was not sent yet. */
export const createFormValues = (values: Partial<ChannelValues>): ChannelValues => ({
  ...(Object.fromEntries(NAMES.map((name) => [name, ''])) as ChannelValues),
  ...values,
});

/** The input of an action, without settings that were left empty. Options of other kinds are left out. */
export function toInput(kind: ChannelKind, values: ChannelValues) {
  const settings: Partial<Record<SettingName, string | string[]>> = {};
  for (const { name } of KIND_GUIDES[kind].fields) {
    const value = values[name];
    if (value === '') continue;
    settings[name] = name === 'urls' ? value.split(/\s+/) : value;
  }
  return { name: values.name, ...(settings as object), ...readOptions(kind, values) };
}

/** The errors of an input, by the fields of the form. */
export function toFieldErrors({ channels }: Texts, { fields, form }: FormErrors, kind: ChannelKind): FormErrors {
  const found: Record<string, string[]> = {};
  const others: string[] = [];
  const known = new Set<string>(['name', ...OPTION_NAMES, ...KIND_GUIDES[kind].fields.map(({ name }) => name)]);
  for (const [path, messages] of Object.entries(fields)) {
    const [first = '', second] = path.split('.');
    const name = first === 'quiet' ? (QUIET_FIELDS[second ?? 'from'] ?? 'quietFrom') : first;
    if (name === 'quietFrom' || name === 'quietTo') found[name] = [channels.quietBoth];
    else if (known.has(name)) found[name] = [...new Set([...(found[name] ?? []), ...messages])];
    else others.push(`${path} ${messages.join(', ')}`);
  }
  return { fields: found, form: form ?? (others.length > 0 ? `${others.join('. ')}.` : null) };
}

const QUIET_FIELDS: Record<string, string> = { from: 'quietFrom', to: 'quietTo', timezone: 'quietTimezone' };

interface FormOptions {
  texts: Texts;
  kind: ChannelKind;
  action: string;
  hidden: Html;
  button: string;
  cancel: string;
  /** Whether settings that are left empty stay as they are stored. */
  isStored: boolean;
}

const NOT_FILLED_IN = raw('autocomplete="off" autocapitalize="off" spellcheck="false"');

const renderCode = (text: string) => html`<code>${text}</code>`;

function renderSetting(field: SettingField, values: ChannelValues, errors: FormErrors, options: FormOptions): Html {
  const { texts, isStored } = options;
  const { name, prefix = '', isSecret = false, isOptional = false, type = 'text' } = field;
  const keeps = isStored && isSecret;
  const { label, hint: describe } = texts.channelGuides.fields[field.text];
  const hint = keeps ? texts.channels.keepSecret : html`${describe(renderCode, prefix)}`;
  // What is typed into a field for a secret is not sent back either.
  const value = isSecret ? '' : values[name];
  const input = { name, label, hint, errors, required: !isOptional && !keeps, attributes: NOT_FILLED_IN };
  if (name === 'urls') {
    return renderTextarea({
      ...input,
      value,
      rows: 3,
      attributes: html`class="code masked" ${NOT_FILLED_IN}`,
    });
  }
  return renderInput({ ...input, value, type: isSecret ? 'password' : type });
}

/** Folded where the channel exists already. */
function renderSteps({ texts, kind, isStored }: FormOptions): Html {
  const { place, steps } = texts.channelGuides.kinds[kind];
  const marks = {
    strong: (text: string) => html`<b>${text}</b>`,
    code: renderCode,
    link: (text: string) => html`<a href="${KIND_GUIDES[kind].site}" rel="noreferrer">${text}</a>`,
  };
  const list = html`<ol class="numbered">${steps(marks).map((step) => html`<li>${step}</li>`)}</ol>`;
  if (isStored) {
    return html`<details class="gap"><summary>${texts.channels.setup}</summary>${list}</details>`;
  }
  return html`<section class="gap" aria-labelledby="steps"><h2 id="steps">${place}</h2>
${list}</section>`;
}

/** The steps in the other program, what it gave, and when messages may come. */
export function renderForm(values: ChannelValues, errors: FormErrors, options: FormOptions): Html {
  const { texts, kind, action, hidden, button, cancel, isStored } = options;
  const { channels, forms } = texts;
  const { fields } = KIND_GUIDES[kind];
  const wasRefused = Object.keys(errors.fields).length > 0 || errors.form !== null;
  const asksAgain = wasRefused && !isStored && fields.some(({ isSecret }) => isSecret);
  return html`<form class="panel gap-l form guided" method="post" action="${action}">${hidden}
${renderFormError(errors, texts)}
${renderSteps(options)}
<section class="gap" aria-labelledby="settings"><h2 id="settings">${channels.connection}</h2>
${asksAgain && html`<p class="muted">${channels.enterSecretsAgain}</p>`}
${fields.map((field) => renderSetting(field, values, errors, options))}
${renderInput({
  name: 'name',
  label: channels.name,
  value: values.name,
  required: true,
  autocomplete: 'off',
  errors,
  hint: channels.nameHint(texts.channelGuides.kinds[kind].example),
})}</section>
${renderOptions(texts, kind, values, errors)}
<div class="do"><button class="primary">${button}</button><a class="button quiet" href="${cancel}">${forms.cancel}</a></div>
</form>`;
}
