import { parseId } from '@carillon/contract/validation/formats';
import type { StoredTask } from '../../../actions.ts';
import { renderFieldError } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { SectionProps } from './section-props.ts';
import type { SettingsValues } from './settings-values.ts';

type Inputs = StoredTask['inputs'];
type Typed = Pick<SettingsValues, 'inputTasks' | 'inputNames'>;

const MAX_INPUTS = 5;
const FREE_ROWS = 2;
const MAX_NAME = 32;

/** The other tasks that the prompt reads. */
export function renderInputs({ values, formData, errors, texts: { taskForm, versions } }: SectionProps): Html {
  const { tasks } = formData;
  const used = values.inputTasks
    .map((id, at) => ({ id, name: values.inputNames[at] ?? '' }))
    .filter(({ id, name }) => id !== '' || name !== '');
  const free = Array.from({ length: FREE_ROWS }, () => ({ id: '', name: '' }));
  const rows = [...used, ...free].slice(0, Math.max(MAX_INPUTS, used.length));
  const options = (id: string) =>
    html`<option value="">${taskForm.noTask}</option>${
      id !== '' &&
      tasks.every((task) => String(task.id) !== id) &&
      html`<option value="${id}" selected>${versions.lost}</option>`
    }${tasks.map((task) => html`<option value="${task.id}"${String(task.id) === id && raw(' selected')}>${task.name}</option>`)}`;
  const isWrong = errors.fields.inputs !== undefined;
  return html`<fieldset class="field" id="inputs"${isWrong && raw(' aria-describedby="inputs-error" tabindex="-1"')}><legend>${versions.fields.inputs}</legend>
${rows.map(
  ({ id, name }, at) =>
    html`<div class="sentence"><select name="inputTask" aria-label="${taskForm.inputTaskOf(at + 1)}">${options(id)}</select><input name="inputName" value="${name}" maxlength="${MAX_NAME}" autocomplete="off" autocapitalize="off" spellcheck="false" aria-label="${taskForm.inputNameOf(at + 1)}" placeholder="${taskForm.inputNameExample}"></div>`,
)}<p class="hint">${taskForm.inputsHint}</p>${renderFieldError('inputs', errors)}</fieldset>`;
}

/** Rows with a task. */
export const readInputs = ({ inputTasks, inputNames }: Typed): Inputs =>
  inputTasks.flatMap((text, at) => {
    const taskId = parseId(text);
    return taskId === null ? [] : [{ taskId, name: inputNames[at] || `task${at + 1}` }];
  });

/** Names rows that have a task and no name after the task. */
export function nameInputs<V extends Typed>(values: V, tasks: SectionProps['formData']['tasks']): V {
  const taken = new Set(values.inputNames);
  const inputNames = values.inputTasks.map((id, at) => {
    const name = values.inputNames[at] ?? '';
    const task = tasks.find((one) => String(one.id) === id);
    if (name !== '' || !task) return name;
    const free = findFreeName(toName(task.name), taken);
    taken.add(free);
    return free;
  });
  return { ...values, inputNames };
}

/** `exchange_rates` for `Exchange rates`. */
function toName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
    .replaceAll(' ', '_');
  return (/^[a-z]/.test(plain) ? plain : `task_${plain}`).slice(0, MAX_NAME - 2).replace(/_+$/, '');
}

function findFreeName(name: string, taken: ReadonlySet<string>): string {
  for (let at = 1; ; at++) {
    const free = at === 1 ? name : `${name}${at}`;
    if (!taken.has(free)) return free;
  }
}
