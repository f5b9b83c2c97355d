import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../components/fields.ts';
import { type Html, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { hostOf, readId } from './address.ts';
import { readFormValues, renderForm, toInput, type WebhookValues } from './form.ts';

type Webhook = WebActionData<'getWebhook'>;

interface Shown {
  values: WebhookValues;
  errors: FormErrors;
  /** The webhook is not as it was when the form was opened. */
  isChanged: boolean;
}

/** What is saved, beside what was typed. */
const renderSaved = ({ url, events, description }: Webhook): Html => html`<aside aria-labelledby="saved">
<h2 id="saved" class="head">As it is saved now</h2>
<dl class="facts"><dt>Address</dt><dd>${url}</dd>
<dt>Sent when</dt><dd>${events.map((event) => html`<code>${event}</code> `)}</dd>
<dt>Description</dt><dd>${description ?? '–'}</dd></dl>
<p class="fine muted">Saving replaces it by what stands in the form.</p>
</aside>`;

function renderPage(
  { csrfField, texts }: UserPageContext,
  webhook: Webhook,
  { values, errors, isChanged }: Shown,
): Page {
  const { id, url, revision } = webhook;
  const form = renderForm(values, errors, {
    texts,
    action: `/webhooks/${id}/edit`,
    hidden: html`${csrfField}<input type="hidden" name="revision" value="${revision}">`,
    button: 'Save webhook',
    cancel: `/webhooks/${id}`,
  });
  return {
    title: 'Edit webhook',
    breadcrumb: { href: `/webhooks/${id}`, text: hostOf(url) },
    body: isChanged ? html`<div class="split">${form}${renderSaved(webhook)}</div>` : form,
  };
}

const renderManaged = ({ id, url, purpose, taskId }: Webhook): Page => ({
  title: 'Edit webhook',
  breadcrumb: { href: `/webhooks/${id}`, text: hostOf(url) },
  body: html`<p>This webhook belongs to ${purpose === 'task' ? 'a task' : 'your settings'}: its address is changed there, and its events are fixed.</p>
<p class="do"><a class="button primary" href="${purpose === 'task' ? `/tasks/${taskId}/edit` : '/settings'}">${purpose === 'task' ? 'Edit the task' : 'Open the settings'}</a></p>`,
});

export async function showEditWebhook(context: UserPageContext): Promise<Page> {
  const webhook = unwrap(await context.actions.getWebhook(context.session, { id: readId(context) }));
  if (webhook.purpose !== 'subscription') return renderManaged(webhook);
  const { url, events, description } = webhook;
  const values = { url, events, description: description ?? '' };
  return renderPage(context, webhook, { values, errors: NO_ERRORS, isChanged: false });
}

export async function changeWebhook(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session, request } = context;
  const id = readId(context);
  const form = readForm(request);
  const values = readFormValues(form);
  const revision = Number(form.text('revision')) || 0;
  const result = await actions.changeWebhook(session, { id, revision, ...toInput(values) });
  if (result.success) return redirect(`/webhooks/${id}`, 'The webhook is saved.');
  const webhook = unwrap(await actions.getWebhook(session, { id }));
  if (webhook.purpose !== 'subscription') return { ...renderManaged(webhook), status: toStatus(result) };
  const isChanged = result.code === 'CONFLICT';
  const errors = isChanged
    ? { fields: {}, form: 'This webhook was changed after you opened the form. Nothing is saved yet.' }
    : toFormErrors(result, context.texts);
  // Without a conflict the form keeps the version that it was opened with.
  const shown = isChanged ? webhook : { ...webhook, revision };
  return { ...renderPage(context, shown, { values, errors, isChanged }), status: toStatus(result) };
}
