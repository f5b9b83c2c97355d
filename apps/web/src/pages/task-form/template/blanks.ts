import { type Blank, fillBlanks, findKeys, type TemplateNeed } from '@carillon/contract/tasks/templates';
import type { Texts } from '@carillon/texts';
import { type FormErrors, renderInput } from '../../../components/fields.ts';
import { EMPTY, type Html, html, raw } from '../../../html.ts';
import type { Form } from '../../../http/forms.ts';
import type { Problems } from '../problems.ts';
import type { SourceValues } from '../sources/source-values.ts';

/** A blank of a template, with what is typed for it. */
export interface BlankValue extends Blank {
  value: string;
}

const MAX_BLANKS = 20;
const KEY = /^[a-z][a-z0-9_]{0,31}$/;

const PREFIX = 'blank-';
const nameBlank = (key: string) => `${PREFIX}${key}`;
export const isBlank = (field: string): boolean => field.startsWith(PREFIX);

/** The form has the blanks themselves, so that a template of a file needs no place on the server. */
export function readBlanks(form: Form): BlankValue[] {
  const [labels, examples] = [form.list('blankLabel'), form.list('blankExample')];
  return form
    .list('blankKey')
    .slice(0, MAX_BLANKS)
    .map((key, at) => ({
      key,
      label: labels[at] ?? key,
      example: examples[at] ?? '',
      value: form.text(nameBlank(key)).trim(),
    }))
    .filter(({ key }) => KEY.test(key));
}

export const toTexts = (blanks: readonly BlankValue[]): Map<string, string> =>
  new Map(blanks.filter(({ value }) => value !== '').map(({ key, value }) => [key, value]));

/** The sources before their addresses are read: `shop.example.com` gets a scheme then. */
export function fillSources({ sources, blanks }: { sources: readonly SourceValues[]; blanks: readonly BlankValue[] }) {
  const texts = toTexts(blanks);
  return sources.map((source) => ({
    ...source,
    select: fillBlanks(source.select, texts),
    address:
      source.kind === 'page' ? fillBlanks({ url: source.address }, texts).url : fillBlanks(source.address, texts),
  }));
}

/** Only those that a text of the task still has. */
export function findEmptyBlanks(settings: object, blanks: readonly BlankValue[], { templates }: Texts): Problems {
  const keys = findKeys(settings);
  const empty = blanks.filter(({ key, value }) => value === '' && keys.has(key));
  return Object.fromEntries(empty.map(({ key, label }) => [nameBlank(key), [templates.fillIn(label)]]));
}

const hide = (name: string, value: string) => html`<input type="hidden" name="${name}" value="${value}">`;

/** What a newcomer has to say, with a button that saves without the rest of the form. */
export function renderBlanks(blanks: readonly BlankValue[], errors: FormErrors, { templates, taskForm }: Texts): Html {
  if (blanks.length === 0) return EMPTY;
  return html`<section class="panel blanks" aria-labelledby="blanks"><h2 id="blanks">${templates.blanks}</h2><p class="hint">${templates.blanksHint}</p>${blanks.map(
    (
      { key, label, example, value },
      at,
    ) => html`${hide('blankKey', key)}${hide('blankLabel', label)}${hide('blankExample', example)}
${renderInput({
  name: nameBlank(key),
  label,
  value,
  autocomplete: 'off',
  hint: templates.example(example),
  attributes: html`maxlength="2000"${at === 0 && Object.keys(errors.fields).length === 0 && raw(' autofocus')}`,
  errors,
})}`,
  )}<div class="do"><button class="primary" name="action" value="run">${taskForm.saveAndTry}</button></div></section>`;
}

/** Such as `the AI provider has no web search`. */
export const describeLacks = (lacks: readonly TemplateNeed[], { templates, formats }: Texts): string =>
  formats.list(lacks.map((need) => templates.lacks[need]));

export const renderLacks = (lacks: readonly TemplateNeed[], texts: Texts): Html =>
  lacks.length === 0
    ? EMPTY
    : html`<div class="notice warn"><p>${texts.templates.leftOut(describeLacks(lacks, texts))}</p></div>`;
