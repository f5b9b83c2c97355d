import type { Texts } from '@carillon/texts';
import type { TaskFormData } from '../../actions.ts';
import { type FormErrors, renderField, renderInput, renderTextarea } from '../../components/fields.ts';
import { EMPTY, type Html, html, raw } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { SectionProps } from './settings/section-props.ts';

type File = TaskFormData['files'][number];

/** The kinds that the service accepts. */
const ACCEPTED = '.jpg,.jpeg,.png,.webp,.gif,.pdf,.txt,.md,.csv,.json';

const renderAttached = (
  { id, name, size }: Pick<File, 'id' | 'name'> & { size: number | null },
  { taskForm: { remove }, formats }: Texts,
): Html =>
  html`<li><input type="hidden" name="attachment" value="${id}"><span>${name}</span> <span class="muted">${
    size !== null && formats.bytes(size)
  }</span> <button class="plain" name="remove" value="${id}" formnovalidate aria-label="${remove} ${name}">${remove}</button></li>`;

/** The files that go with the prompt. */
export function renderFiles({ values: { attachments }, formData: { files }, errors, texts }: PromptProps): Html {
  const { taskForm, formats } = texts;
  const { remove, attached: attachedText, removed, uploading, connectionLost, notAttached } = taskForm;
  const scriptTexts = { remove, attached: attachedText, removed, uploading, connectionLost, notAttached };
  const known = new Map(files.map((file) => [file.id, file]));
  const attached = attachments.map((id) => known.get(id) ?? { id, name: taskForm.deletedFile, size: null });
  const others = files.filter(({ id }) => !attachments.includes(id)).slice(0, 8);
  return html`<div class="gap" data-attach data-texts="${JSON.stringify(scriptTexts)}">${renderField(
    { name: 'files', label: taskForm.fields.files, hint: taskForm.attachmentsHint, errors },
    (attributes) => html`<input ${attributes} type="file" multiple accept="${ACCEPTED}">`,
  )}
<ul class="files">${attached.map((file) => renderAttached(file, texts))}</ul>
<p class="vh" role="status"></p>${
    others.length > 0 &&
    html`<details><summary>${taskForm.chooseFiles}</summary><ul class="files">${others.map(
      ({ id, name, size }) =>
        html`<li><label class="check"><input type="checkbox" name="attachment" value="${id}"><span>${name}</span> <span class="muted">${formats.bytes(size)}</span></label></li>`,
    )}</ul></details>`
  }</div>`;
}

type PromptProps = Pick<SectionProps, 'values' | 'formData' | 'errors' | 'texts'>;

interface PromptField {
  prompt: string;
  rows: number;
  errors: FormErrors;
  texts: Texts;
}

/** What the model is asked. */
export const renderPromptField = ({ prompt, rows, errors, texts: { taskForm } }: PromptField): Html =>
  renderTextarea({
    name: 'prompt',
    label: taskForm.fields.prompt,
    value: prompt,
    required: true,
    rows,
    placeholder: taskForm.promptExample,
    errors,
  });

/** Says before anything is written that no model will answer. */
export function renderProviderNotice({ viewer, texts }: UserPageContext, { models }: TaskFormData): Html {
  const { taskForm } = texts;
  if (models.kind !== 'offline') return EMPTY;
  return html`<div class="notice warn"><p>${taskForm.modelOffline} ${
    viewer.role === 'ADMIN' ? html`<a href="/admin/providers">${taskForm.setUpProvider}</a>` : taskForm.askForProvider
  }</p></div>`;
}

/** How the task is called, for people. */
export const renderNameFields = ({ values, errors, texts: { taskForm } }: PromptProps): Html =>
  html`${renderInput({
    name: 'name',
    label: taskForm.fields.name,
    value: values.name,
    autocomplete: 'off',
    attributes: raw('maxlength="100"'),
    hint: taskForm.nameHint,
    errors,
  })}
${renderInput({
  name: 'description',
  label: taskForm.fields.description,
  value: values.description,
  autocomplete: 'off',
  attributes: raw('maxlength="500"'),
  hint: taskForm.descriptionHint,
  errors,
})}`;
