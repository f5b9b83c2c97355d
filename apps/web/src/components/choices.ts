import { type Html, html, raw } from '../html.ts';
import { type FormErrors, NO_ERRORS, renderFieldError } from './fields.ts';

export interface Choice {
  value: string;
  text: string;
  /** What follows from it, in a sentence. */
  hint?: string;
}

interface Choices {
  name: string;
  legend: string;
  choices: readonly Choice[];
  value: string;
  errors?: FormErrors;
}

const describe = (name: string, { fields }: FormErrors) =>
  fields[name] ? html` aria-describedby="${name}-error" tabindex="-1"` : raw('');

const renderRadio = (name: string, { value }: Choice, chosen: string) =>
  html`<input type="radio" name="${name}" value="${value}"${value === chosen && raw(' checked')}>`;

/** One of several, each on a line with what follows from it. */
export const renderRadios = ({ name, legend, choices, value, errors = NO_ERRORS }: Choices): Html =>
  html`<fieldset class="ticks" id="${name}"${describe(name, errors)}><legend>${legend}</legend>${choices.map(
    (choice) =>
      html`<label class="check">${renderRadio(name, choice, value)}<span>${choice.text}${
        choice.hint !== undefined && html`<span class="hint">${choice.hint}</span>`
      }</span></label>`,
  )}${renderFieldError(name, errors)}</fieldset>`;

/** One of a few short ones, in a row. */
export const renderChoice = ({ name, legend, choices, value, errors = NO_ERRORS }: Choices): Html =>
  html`<fieldset class="field" id="${name}"${describe(name, errors)}><legend>${legend}</legend><div class="choice">${choices.map(
    (choice) => html`<label>${renderRadio(name, choice, value)}${choice.text}</label>`,
  )}</div>${renderFieldError(name, errors)}</fieldset>`;

/** A box to tick, with what follows from it. */
export const renderTick = (name: string, isTicked: boolean, text: string, hint: Html | string): Html =>
  html`<label class="check"><input type="checkbox" id="${name}" name="${name}"${isTicked && raw(' checked')}><span>${text}<span class="hint">${hint}</span></span></label>`;
