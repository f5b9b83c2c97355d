import type { Texts } from '@carillon/texts';
import { type FormErrors, renderFormError, renderInput } from '../../components/fields.ts';
import { type Html, html } from '../../html.ts';
import type { Form } from '../../http/forms.ts';
import { renderEventTicks } from './events.ts';

/** What a person has typed. */
export interface WebhookValues {
  url: string;
  events: readonly string[];
  description: string;
}

export const readFormValues = (form: Form): WebhookValues => ({
  url: form.text('url').trim(),
  events: form.list('events'),
  description: form.text('description').trim(),
});

/** The input of an action. Events that do not exist are refused there. */
export const toInput = ({ url, events, description }: WebhookValues) => ({
  url,
  events: events as never[],
  description: description || null,
});

interface FormOptions {
  texts: Texts;
  action: string;
  hidden: Html;
  button: string;
  cancel: string;
}

export const renderForm = (
  { url, events, description }: WebhookValues,
  errors: FormErrors,
  { texts, action, hidden, button, cancel }: FormOptions,
): Html => html`<form class="panel gap-l form" method="post" action="${action}">${hidden}
${renderFormError(errors, texts)}
${renderInput({
  name: 'url',
  label: texts.webhooks.url,
  type: 'url',
  value: url,
  required: true,
  autocomplete: 'off',
  errors,
  hint: texts.webhooks.urlHint,
})}
${renderInput({
  name: 'description',
  label: texts.deliveries.description,
  value: description,
  autocomplete: 'off',
  errors,
  hint: texts.webhooks.descriptionHint,
})}
${renderEventTicks(texts, events, errors)}
<div class="do"><button class="primary">${button}</button><a class="button quiet" href="${cancel}">${texts.forms.cancel}</a></div>
</form>`;
