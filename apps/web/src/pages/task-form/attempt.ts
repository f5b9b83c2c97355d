import { randomUUID } from 'node:crypto';
import { isUuid } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import { type Html, html } from '../../html.ts';
import type { Form } from '../../http/forms.ts';

/** Names one showing of a form, so that sending it twice does its work once. */
export const renderAttempt = (): Html =>
  html`<input type="hidden" name="attempt" value="${randomUUID()}" hx-morph-skip>`;

/** What the script of a form says. */
export function renderScriptTexts({ taskForm: { discard, restored, notUpdated } }: Texts): Html {
  return html` data-texts="${JSON.stringify({ discard, restored, notUpdated })}"`;
}

export function readAttempt(form: Form): { attempt?: string } {
  const attempt = form.text('attempt');
  return isUuid(attempt) ? { attempt } : {};
}
