import { randomUUID } from 'node:crypto';
import { isUuid } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../components/fields.ts';
import { nameWebhook } from '../../components/first-line.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import type { Page, UserPageContext } from '../../page.ts';
import { readFormValues, renderForm, toInput, type WebhookValues } from './form.ts';
import { renderSecret } from './secret.ts';

const EMPTY_ACCOUNT: WebhookValues = {
  url: '',
  events: ['execution.completed', 'execution.failed'],
  description: '',
};

const renderPage = (
  { csrfField, texts }: UserPageContext,
  id: string,
  values: WebhookValues,
  errors: FormErrors,
): Page => ({
  title: texts.webhooks.new,
  subtitle: texts.webhooks.newSubtitle,
  breadcrumb: { href: '/webhooks', text: texts.webhooks.title },
  body: renderForm(values, errors, {
    texts,
    action: '/webhooks/new',
    hidden: html`${csrfField}<input type="hidden" name="id" value="${id}">`,
    button: texts.webhooks.create,
    cancel: '/webhooks',
  }),
});

export const showNewWebhook = (context: UserPageContext): Page =>
  renderPage(context, randomUUID(), EMPTY_ACCOUNT, NO_ERRORS);

/** Answers with the secret instead of a redirect. The id is in the form, so reloading that page creates nothing. */
export async function createWebhook(context: UserPageContext): Promise<Page> {
  const { actions, session, request, texts } = context;
  const form = readForm(request);
  const values = readFormValues(form);
  const id = isUuid(form.text('id')) ? form.text('id').toLowerCase() : randomUUID();
  const result = await actions.createWebhook(session, { id, ...toInput(values) });
  if (result.success) {
    return renderSecret(context, {
      ...result.data,
      name: nameWebhook({ url: result.data.url, description: values.description }),
      title: texts.webhooks.created,
      subtitle: texts.webhooks.createdSubtitle,
      isRotated: false,
      hasInboundAddress: true,
    });
  }
  if (result.code === 'CONFLICT') return renderSentTwice(texts, id);
  return { ...renderPage(context, id, values, toFormErrors(result, texts)), status: toStatus(result) };
}

const renderSentTwice = ({ webhooks }: Texts, id: string): Page => ({
  status: 409,
  title: webhooks.createdAlready,
  breadcrumb: { href: '/webhooks', text: webhooks.title },
  body: html`<p>${webhooks.createdAlreadyText}</p>
<p class="do"><a class="button primary" href="/webhooks/${id}">${webhooks.open}</a><a class="button" href="/webhooks/${id}/rotate">${webhooks.rotateLink}</a></p>`,
});
