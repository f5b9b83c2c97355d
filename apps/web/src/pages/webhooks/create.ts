import { randomUUID } from 'node:crypto';
import { isUuid } from '@carillon/contract/primitives';
import type { Page } from '../../answer.ts';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import type { SignedInVisit } from '../../visit.ts';
import { readTyped, renderForm, type TypedWebhook, toInput } from './form.ts';
import { renderSecret } from './secret.ts';

const NOTHING_TYPED: TypedWebhook = {
  url: '',
  events: ['execution.completed', 'execution.failed'],
  description: '',
};

const renderPage = ({ csrfField }: SignedInVisit, id: string, typed: TypedWebhook, errors: FormErrors): Page => ({
  title: 'New webhook',
  lead: 'Tells another program at once when something happens here.',
  crumb: { href: '/webhooks', text: 'Webhooks' },
  body: renderForm(typed, errors, {
    action: '/webhooks/new',
    hidden: html`${csrfField}<input type="hidden" name="id" value="${id}">`,
    button: 'Create webhook',
    cancel: '/webhooks',
  }),
});

export const showNewWebhook = (visit: SignedInVisit): Page => renderPage(visit, randomUUID(), NOTHING_TYPED, NO_ERRORS);

/** Answers with the secret instead of a redirect. The id is in the form, so reloading that page creates nothing. */
export async function createWebhook(visit: SignedInVisit): Promise<Page> {
  const { actions, session, request } = visit;
  const form = readForm(request);
  const typed = readTyped(form);
  const id = isUuid(form.text('id')) ? form.text('id').toLowerCase() : randomUUID();
  const result = await actions.createWebhook(session, { id, ...toInput(typed) });
  if (result.success) {
    return renderSecret(visit, {
      ...result.data,
      title: 'Webhook created',
      lead: 'It is on. One thing is left to do at the receiver.',
      isRotated: false,
      hasInboundAddress: true,
    });
  }
  if (result.code === 'CONFLICT') return renderSentTwice(id);
  return { ...renderPage(visit, id, typed, toFormErrors(result)), status: toStatus(result) };
}

const renderSentTwice = (id: string): Page => ({
  status: 409,
  title: 'Created already',
  crumb: { href: '/webhooks', text: 'Webhooks' },
  body: html`<p>This form was sent before, so the webhook exists. Its secret is not shown again; if you have not copied it, rotate it.</p>
<p class="do"><a class="button primary" href="/webhooks/${id}">Open the webhook</a><a class="button" href="/webhooks/${id}/rotate">Rotate its secret…</a></p>`,
});
