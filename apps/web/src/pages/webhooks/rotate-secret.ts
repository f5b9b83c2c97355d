import type { Texts } from '@carillon/texts';
import { nameWebhook } from '../../components/first-line.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { readUuid } from '../../http/path-ids.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { renderSecret } from './secret.ts';

export async function showRotateSecret(context: UserPageContext): Promise<Page> {
  const { actions, session, csrfField, texts } = context;
  const { webhooks, forms } = texts;
  const id = readUuid(context);
  const webhook = unwrap(await actions.getWebhook(session, { id }));
  const { purpose, secretVersion } = webhook;
  return {
    title: webhooks.rotateTitle,
    breadcrumb: { href: `/webhooks/${id}`, text: nameWebhook(webhook) },
    body: html`<form class="panel gap form" method="post" action="/webhooks/${id}/rotate">${csrfField}
<input type="hidden" name="secretVersion" value="${secretVersion}">
<p>${webhooks.rotateText((text) => html`<code>${text}</code>`)}</p>
${purpose === 'subscription' && html`<p>${webhooks.rotateInbound}</p>`}
<div class="do"><button class="primary">${webhooks.rotate}</button><a class="button quiet" href="/webhooks/${id}">${forms.cancel}</a></div>
</form>`,
  };
}

/** Answers with the secret instead of a redirect. The form names the secret it replaces, so reloading rotates nothing. */
export async function rotateSecret(context: UserPageContext): Promise<Page> {
  const { actions, session, request, texts } = context;
  const id = readUuid(context);
  const webhook = unwrap(await actions.getWebhook(session, { id }));
  const name = nameWebhook(webhook);
  const result = await actions.rotateSecret(session, { id, secretVersion: readForm(request).text('secretVersion') });
  if (!result.success && result.code === 'CONFLICT') return renderRotatedAlready(texts, id, name);
  return renderSecret(context, {
    ...unwrap(result),
    name,
    title: texts.webhooks.rotated,
    subtitle: texts.webhooks.rotatedSubtitle(name),
    isRotated: true,
    hasInboundAddress: webhook.purpose === 'subscription',
  });
}

const renderRotatedAlready = ({ webhooks }: Texts, id: string, name: string): Page => ({
  status: 409,
  title: webhooks.rotatedAlready,
  breadcrumb: { href: `/webhooks/${id}`, text: name },
  body: html`<p>${webhooks.rotatedAlreadyText}</p>
<p class="do"><a class="button" href="/webhooks/${id}/rotate">${webhooks.rotateAgain}</a><a class="button quiet" href="/webhooks/${id}">${webhooks.open}</a></p>`,
});
