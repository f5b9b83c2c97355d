import { randomUUID } from 'node:crypto';
import { isUuid } from '@carillon/contract/validation/formats';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../components/fields.ts';
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
  title: 'New webhook',
  subtitle: 'Tells another program at once when something happens here.',
  breadcrumb: { href: '/webhooks', text: 'Webhooks' },
  body: renderForm(values, errors, {
    texts,
    action: '/webhooks/new',
    hidden: html`${csrfField}<input type="hidden" name="id" value="${id}">`,
    button: 'Create webhook',
    cancel: '/webhooks',
  }),
});

export const showNewWebhook = (context: UserPageContext): Page =>
  renderPage(context, randomUUID(), EMPTY_ACCOUNT, NO_ERRORS);

/** Answers with the secret instead of a redirect. The id is in the form, so reloading that page creates nothing. */
export async function createWebhook(context: UserPageContext): Promise<Page> {
  const { actions, session, request } = context;
  const form = readForm(request);
  const values = readFormValues(form);
  const id = isUuid(form.text('id')) ? form.text('id').toLowerCase() : randomUUID();
  const result = await actions.createWebhook(session, { id, ...toInput(values) });
  if (result.success) {
    return renderSecret(context, {
      ...result.data,
      title: 'Webhook created',
      subtitle: 'It is on. One thing is left to do at the receiver.',
      isRotated: false,
      hasInboundAddress: true,
    });
  }
  if (result.code === 'CONFLICT') return renderSentTwice(id);
  return { ...renderPage(context, id, values, toFormErrors(result, context.texts)), status: toStatus(result) };
}

const renderSentTwice = (id: string): Page => ({
  status: 409,
  title: 'Created already',
  breadcrumb: { href: '/webhooks', text: 'Webhooks' },
  body: html`<p>This form was sent before, so the webhook exists. Its secret is not shown again; if you have not copied it, rotate it.</p>
<p class="do"><a class="button primary" href="/webhooks/${id}">Open the webhook</a><a class="button" href="/webhooks/${id}/rotate">Rotate its secret…</a></p>`,
});
