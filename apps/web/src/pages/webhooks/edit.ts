import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../components/fields.ts';
import { nameWebhook } from '../../components/first-line.ts';
import { type Html, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { readUuid } from '../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { describeEvents } from './events.ts';
import { readFormValues, renderForm, toInput, type WebhookValues } from './form.ts';

type Webhook = WebActionData<'getWebhook'>;

interface Shown {
  values: WebhookValues;
  errors: FormErrors;
  /** The webhook is not as it was when the form was opened. */
  isChanged: boolean;
}

/** What is saved, next to what was typed. */
function renderSaved(texts: Texts, { url, events, description }: Webhook): Html {
  const { webhooks, deliveries } = texts;
  return html`<aside aria-labelledby="saved">
<h2 id="saved" class="head">${deliveries.savedVersion}</h2>
<dl class="facts"><dt>${webhooks.url}</dt><dd>${url}</dd>
<dt>${webhooks.events}</dt><dd>${describeEvents(texts, events)}</dd>
<dt>${deliveries.description}</dt><dd>${description ?? webhooks.noDescription}</dd></dl>
<p class="fine muted">${deliveries.savedVersionHint}</p>
</aside>`;
}

function renderPage(
  { csrfField, texts }: UserPageContext,
  webhook: Webhook,
  { values, errors, isChanged }: Shown,
): Page {
  const { id, revision } = webhook;
  const form = renderForm(values, errors, {
    texts,
    action: `/webhooks/${id}/edit`,
    hidden: html`${csrfField}<input type="hidden" name="revision" value="${revision}">`,
    button: texts.webhooks.save,
    cancel: `/webhooks/${id}`,
  });
  return {
    title: texts.webhooks.edit,
    breadcrumb: { href: `/webhooks/${id}`, text: nameWebhook(webhook) },
    body: isChanged ? html`<div class="split">${form}${renderSaved(texts, webhook)}</div>` : form,
  };
}

const renderManaged = ({ webhooks }: Texts, { id, purpose, taskId, ...named }: Webhook): Page => ({
  title: webhooks.edit,
  breadcrumb: { href: `/webhooks/${id}`, text: nameWebhook(named) },
  body: html`<p>${purpose === 'task' ? webhooks.managedByTask : webhooks.managedBySettings}</p>
<p class="do"><a class="button primary" href="${purpose === 'task' ? `/tasks/${taskId}/edit` : '/settings/notifications'}">${purpose === 'task' ? webhooks.editTask : webhooks.openSettings}</a></p>`,
});

export async function showEditWebhook(context: UserPageContext): Promise<Page> {
  const webhook = unwrap(await context.actions.getWebhook(context.session, { id: readUuid(context) }));
  if (webhook.purpose !== 'subscription') return renderManaged(context.texts, webhook);
  const { url, events, description } = webhook;
  const values = { url, events, description: description ?? '' };
  return renderPage(context, webhook, { values, errors: NO_ERRORS, isChanged: false });
}

export async function changeWebhook(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session, request, texts } = context;
  const id = readUuid(context);
  const form = readForm(request);
  const values = readFormValues(form);
  const revision = Number(form.text('revision')) || 0;
  const result = await actions.changeWebhook(session, { id, revision, ...toInput(values) });
  if (result.success) return redirect(`/webhooks/${id}`, texts.webhooks.saved);
  const webhook = unwrap(await actions.getWebhook(session, { id }));
  if (webhook.purpose !== 'subscription') return { ...renderManaged(texts, webhook), status: toStatus(result) };
  const isChanged = result.code === 'CONFLICT';
  const errors = isChanged ? { fields: {}, form: texts.webhooks.conflict } : toFormErrors(result, texts);
  // Without a conflict the form keeps the version that it was opened with.
  const shown = isChanged ? webhook : { ...webhook, revision };
  return { ...renderPage(context, shown, { values, errors, isChanged }), status: toStatus(result) };
}
