import { type FormErrors, renderField, renderInput, renderTextarea } from '../../components/fields.ts';
import { formatBytes } from '../../components/format.ts';
import { type Html, html, raw } from '../../html.ts';
import type { TaskFormData } from './form-data.ts';
import type { FormValues } from './form-values.ts';

type File = TaskFormData['files'][number];

/** The kinds that the service accepts. */
const ACCEPTED = '.jpg,.jpeg,.png,.webp,.gif,.pdf,.txt,.md,.csv,.json';

const renderAttached = ({ id, name, size }: Pick<File, 'id' | 'name'> & { size: number | null }): Html =>
  html`<li><input type="hidden" name="attachment" value="${id}"><span>${name}</span> <span class="muted">${
    size !== null && formatBytes(size)
  }</span> <button class="plain" name="remove" value="${id}" formnovalidate aria-label="Remove ${name}">Remove</button></li>`;

function renderFiles({ attachments }: FormValues, { files }: TaskFormData, errors: FormErrors): Html {
  const known = new Map(files.map((file) => [file.id, file]));
  const attached = attachments.map((id) => known.get(id) ?? { id, name: 'A file that has been deleted', size: null });
  const others = files.filter(({ id }) => !attachments.includes(id)).slice(0, 8);
  return html`<div class="gap" data-attach>${renderField(
    {
      name: 'files',
      label: 'Attachments',
      hint: 'Up to ten, 20 MB together. Images, PDF, text, Markdown, CSV and JSON.',
      errors,
    },
    (attributes) => html`<input ${attributes} type="file" multiple accept="${ACCEPTED}">`,
  )}
<ul class="files">${attached.map(renderAttached)}</ul>
<p class="vh" role="status"></p>${
    others.length > 0 &&
    html`<details><summary>Choose from your files</summary><ul class="files">${others.map(
      ({ id, name, size }) =>
        html`<li><label class="check"><input type="checkbox" name="attachment" value="${id}"><span>${name}</span> <span class="muted">${formatBytes(size)}</span></label></li>`,
    )}</ul></details>`
  }</div>`;
}

/** What is asked. `hidden` stands before all other fields and buttons. */
export const renderPromptFields = (
  values: FormValues,
  formData: TaskFormData,
  errors: FormErrors,
  hidden: Html,
): Html =>
  html`<section class="gap" aria-labelledby="what"><h2 id="what">What</h2>${hidden}
${renderInput({
  name: 'name',
  label: 'Name',
  value: values.name,
  required: true,
  autocomplete: 'off',
  attributes: raw('maxlength="100"'),
  errors,
})}
${renderTextarea({ name: 'prompt', label: 'Prompt', value: values.prompt, required: true, rows: 8, errors })}
${renderInput({
  name: 'description',
  label: 'Description',
  value: values.description,
  autocomplete: 'off',
  attributes: raw('maxlength="500"'),
  hint: 'Optional, for you. The model does not get it.',
  errors,
})}
${renderFiles(values, formData, errors)}
</section>`;
