import type { WebActionError } from '@carillon/contract/actions/web/index';
import { type Texts, translateApiMessage } from '@carillon/texts';
import { EMPTY, type Html, html, raw } from '../html.ts';
import { ActionFailed } from '../page.ts';

/** What is wrong with a submitted form: messages by field, and one about the whole. */
export interface FormErrors {
  fields: Readonly<Record<string, readonly string[]>>;
  form: string | null;
}

export const NO_ERRORS: FormErrors = { fields: {}, form: null };

/** Returns the errors to show in a form, or stops the request where a form cannot help. */
export function toFormErrors(result: WebActionError, texts: Texts): FormErrors {
  switch (result.code) {
    case undefined:
      return { fields: translateFields(result.details, texts), form: null };
    case 'INVALID_CREDENTIALS':
    case 'CONFLICT':
    case 'QUOTA_EXCEEDED':
      return { fields: {}, form: translateApiMessage(result.error, texts) };
    case 'RATE_LIMIT_EXCEEDED':
      return { fields: {}, form: texts.forms.tooManyAttempts(texts.formats.duration(result.retryAfter * 1000)) };
    default:
      throw new ActionFailed(result);
  }
}

/** The messages of the API at its fields, in the language of the reader. */
export const translateFields = (fields: FormErrors['fields'], texts: Texts): FormErrors['fields'] =>
  Object.fromEntries(
    Object.entries(fields).map(([name, messages]) => [name, messages.map((text) => translateApiMessage(text, texts))]),
  );

/** The status of a form that is shown again. */
export const toStatus = ({ code }: WebActionError): number => (code && STATUSES[code]) ?? 422;

const STATUSES: Partial<Record<NonNullable<WebActionError['code']>, number>> = {
  QUOTA_EXCEEDED: 402,
  CONFLICT: 409,
  RATE_LIMIT_EXCEEDED: 429,
  SERVICE_UNAVAILABLE: 503,
};

interface FieldOptions {
  name: string;
  label: string;
  /** Default: the name. */
  id?: string;
  hint?: Html | string | undefined;
  errors?: FormErrors;
}

const ids = ({ name, id = name }: FieldOptions) => ({ id, hintId: `${id}-hint`, errorId: `${id}-error` });

/** The message of a field, with its sign. */
export const renderError = (errorId: string, messages: readonly string[]) =>
  html`<p class="error" id="${errorId}"><svg class="glyph" viewBox="0 0 12 12" aria-hidden="true"><path d="M5 1h2v6H5zM5 9h2v2H5z"/></svg><span>${messages.join('. ')}</span></p>`;

/** The message of a group of controls, which refers to it as `NAME-error`. */
export const renderFieldError = (name: string, { fields }: FormErrors): Html => {
  const messages = fields[name] ?? [];
  return messages.length > 0 ? renderError(`${name}-error`, messages) : EMPTY;
};

/** A label, a control with its description, a hint and the errors of the field. */
export function renderField(options: FieldOptions, renderControl: (attributes: Html) => Html): Html {
  const { name, label, hint, errors = NO_ERRORS } = options;
  const { id, hintId, errorId } = ids(options);
  const messages = errors.fields[name] ?? [];
  const describedBy = [hint && hintId, messages.length > 0 && errorId].filter(Boolean).join(' ');
  const attributes = html`id="${id}" name="${name}"${describedBy && html` aria-describedby="${describedBy}"`}${
    messages.length > 0 && raw(' aria-invalid="true"')
  }`;
  return html`<div class="field"><label for="${id}">${label}</label>${renderControl(attributes)}${
    hint && html`<span class="hint" id="${hintId}">${hint}</span>`
  }${messages.length > 0 && renderError(errorId, messages)}</div>`;
}

interface InputOptions extends FieldOptions {
  type?: 'text' | 'email' | 'password' | 'search' | 'number' | 'date' | 'time' | 'datetime-local' | 'url';
  value?: string | number | undefined;
  required?: boolean;
  autocomplete?: string;
  /** Further attributes, made by this application. */
  attributes?: Html;
}

export const renderInput = ({
  type = 'text',
  value = '',
  required,
  autocomplete,
  attributes,
  ...field
}: InputOptions): Html =>
  renderField(
    field,
    (common) =>
      html`<input ${common} type="${type}" value="${value}"${required && raw(' required')}${
        autocomplete && html` autocomplete="${autocomplete}"`
      }${attributes && html` ${attributes}`}>`,
  );

/** By which the user of the session confirms a change. */
export const renderCurrentPassword = (
  { settings }: Texts,
  errors: FormErrors,
  { id, label = settings.currentPassword }: { id?: string; label?: string } = {},
): Html =>
  renderInput({
    name: 'currentPassword',
    ...(id !== undefined && { id }),
    label,
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    errors,
  });

export interface Option {
  value: string;
  text: string;
}

export const renderSelect = (
  { options, value, ...field }: FieldOptions & { options: readonly Option[]; value: string | undefined },
  attributes: Html = EMPTY,
): Html =>
  renderField(
    field,
    (common) =>
      html`<select ${common} ${attributes}>${options.map(
        (option) =>
          html`<option value="${option.value}"${option.value === value && raw(' selected')}>${option.text}</option>`,
      )}</select>`,
  );

export const renderTextarea = ({
  value = '',
  required,
  rows,
  placeholder,
  attributes,
  ...field
}: FieldOptions & {
  value?: string | undefined;
  required?: boolean;
  rows?: number;
  placeholder?: string;
  /** Further attributes, made by this application. */
  attributes?: Html;
}): Html =>
  renderField(
    field,
    // A browser drops the first line break.
    (
      common,
    ) => html`<textarea ${common}${placeholder && html` placeholder="${placeholder}"`}${rows && html` rows="${rows}"`}${required && raw(' required')}${attributes && html` ${attributes}`}>
${value}</textarea>`,
  );

/** What is wrong with the form as a whole. */
export const renderFormError = ({ form, fields }: FormErrors, { forms }: Texts): Html => {
  const count = Object.keys(fields).length;
  const text = form ?? (count > 0 ? forms.correct(count) : null);
  return text === null ? EMPTY : html`<div class="notice" role="alert" tabindex="-1" autofocus><p>${text}</p></div>`;
};

/** A button that copies the element with this id. A page with it names the script `copy`, which shows it. */
export const renderCopyButton = (id: string, { forms }: Texts, label: string = forms.copy): Html =>
  html`<button type="button" class="copy" data-copy="${id}" data-done="${forms.isCopied}">${label}<span role="status"></span></button>`;
