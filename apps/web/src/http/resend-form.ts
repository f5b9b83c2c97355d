import type { Texts } from '@carillon/texts';
import type { FastifyRequest } from 'fastify';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import { keepFiles } from './sent-files.ts';

/** Of one showing of a form. */
const NOT_KEPT = ['_csrf', 'attempt', 'after'];

/** Whether the fields of a form outlive its session. */
export const isKept = ({ body, routeOptions }: FastifyRequest): boolean =>
  routeOptions.config.keepsValues === true && typeof body === 'object' && body !== null;

interface ResendForm {
  texts: Texts;
  csrfField: Html;
  /** Whether the browser has signed in since. */
  isSignedIn: boolean;
}

/** The values of a form whose session has ended, to be sent again after the sign-in, with files that are not long. */
export function renderResendForm(request: FastifyRequest, { texts, csrfField, isSignedIn }: ResendForm): Page {
  const { body, url } = request;
  const { forms, account, formats } = texts;
  const files = keepFiles(request);
  const fields = Object.entries(body as Record<string, unknown>).flatMap(([name, values]) =>
    [values].flat().map((value) => ({ name, value })),
  );
  const kept = fields.filter(
    (field): field is { name: string; value: string } =>
      typeof field.value === 'string' && !NOT_KEPT.includes(field.name),
  );
  return {
    status: isSignedIn ? 403 : 401,
    title: forms.notSent,
    body: html`<form class="gap" method="post" enctype="multipart/form-data" action="${url}"><p>${isSignedIn ? forms.sendNow : forms.signInFirst}</p>${files.left.length > 0 && html`<p class="note">${forms.filesNotKept(formats.list(files.left))}</p>`}${csrfField}${[
      ...kept,
      ...files.fields,
    ].map(
      ({ name, value }) => html`<textarea name="${name}" hidden>
${value}</textarea>`,
    )}
<div class="do">${!isSignedIn && html`<a class="button primary" href="/sign-in" target="_blank">${account.signIn}</a>`}<button${isSignedIn && html` class="primary"`}>${forms.sendAgain}</button></div></form>`,
  };
}
