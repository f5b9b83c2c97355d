import type { ActionError } from '@carillon/contract/actions/index';
import { readItemMessage } from '@carillon/contract/validation/unsafe-values';
import { type Texts, translateApiMessage } from '@carillon/texts';
import { type FormErrors, NO_ERRORS, toFormErrors, translateFields } from '../../components/fields.ts';
import { renderIcon } from '../../components/status-icon.ts';
import { type Html, html } from '../../html.ts';

/** What is wrong, by the field of the form. */
export type Problems = Record<string, string[]>;

/** Fields of the API that the form has under another name. */
const FORM_FIELDS: Record<string, string> = {
  recurrencePattern: 'cron',
  scheduledFor: 'at',
  attachments: 'files',
  runIf: 'sources',
};

/** Fields of the API in which the form has several fields. */
const PARTED = ['alerts', 'context'];

/** The field of the form, and where in it something is wrong. */
function findField(path: string): { field: string; place: string } {
  const [start = '', ...rest] = path.split('.');
  const [inner] = rest;
  if (PARTED.includes(start) && inner !== undefined) return { field: inner, place: '' };
  return { field: FORM_FIELDS[start] ?? start, place: rest.join('.') };
}

const nameField = (field: string, { taskForm }: Texts): string | undefined =>
  (taskForm.fields as Record<string, string>)[field];

/** What a person reads: `must not be blank` becomes `Prompt must not be blank`. */
function completeMessage(field: string, message: string, texts: Texts): string {
  const label = nameField(field, texts);
  return label !== undefined && /^[a-z]/.test(message) ? texts.taskForm.problem(label, message) : message;
}

function describeProblem(field: string, place: string, message: string, texts: Texts): string {
  const { taskForm } = texts;
  const item = readItemMessage(message);
  if (item !== null) {
    if (field === 'files') return taskForm.fileDeleted;
    if (field === 'channels') return taskForm.channelDeleted;
    if (field === 'inputs') return taskForm.inputProblem(item.at + 1, item.message);
    if (field === 'sources') return taskForm.sourceProblem(item.at + 1, item.message);
    if (field === 'watch') return taskForm.watchProblem(item.at + 1, item.message);
  }
  if (place === '') return completeMessage(field, IN_SECONDS.includes(field) ? toSeconds(message) : message, texts);
  return taskForm.problemAt(nameField(field, texts) ?? field, place, message);
}

const IN_SECONDS = ['timeoutMs', 'durationAboveMs'];

/** The form has seconds where the API has milliseconds. */
const toSeconds = (message: string) =>
  message.replace(/\b(\d+)(?: ms\b| milliseconds\b)?/, (_text, ms) => `${Number(ms) / 1000} s`);

/** The errors of the API, at the fields of the form and in words for people. */
export function nameFields(details: Readonly<Record<string, readonly string[]>>, texts: Texts): Problems {
  const named: Problems = {};
  for (const [path, messages] of Object.entries(translateFields(details, texts))) {
    const { field, place } = findField(path);
    const described = messages.map((text) => describeProblem(field, place, text, texts));
    named[field] = [...new Set([...(named[field] ?? []), ...described])];
  }
  return named;
}

/** Errors of the form, or of the whole; a provider that fails is one of them. */
export function toTaskErrors(result: ActionError, texts: Texts): FormErrors {
  if (result.code === 'SERVICE_UNAVAILABLE') return { fields: {}, form: translateApiMessage(result.error, texts) };
  const { fields, form } = toFormErrors(result, texts);
  return { fields: nameFields(fields, texts), form };
}

export const toTaskStatus = (result: ActionError): number => {
  const statuses: Record<string, number> = {
    QUOTA_EXCEEDED: 402,
    CONFLICT: 409,
    RATE_LIMIT_EXCEEDED: 429,
    SERVICE_UNAVAILABLE: 503,
  };
  return statuses[result.code ?? ''] ?? 422;
};

export const withProblems = (problems: Problems, { fields, form }: FormErrors = NO_ERRORS): FormErrors => ({
  fields: { ...fields, ...problems },
  form,
});

export const hasErrors = ({ fields, form }: FormErrors): boolean => form !== null || Object.keys(fields).length > 0;

/** The element that a field has in the page. */
const toAnchor = (field: string) => (field === 'weekday' ? 'weekdays' : field);

/** What keeps the form from being saved, with links to the fields. */
export function renderProblems({ fields, form }: FormErrors, failure: string): Html | false {
  const entries = Object.entries(fields);
  if (entries.length === 0 && form === null) return false;
  const links = entries.map(([field, [message = '']]) => html`<li><a href="#${toAnchor(field)}">${message}</a></li>`);
  return html`<div class="notice" role="alert" tabindex="-1" autofocus>${renderIcon('failed')}<p><b>${failure}</b> ${form}</p>${
    links.length > 0 && html`<ul>${links}</ul>`
  }</div>`;
}
