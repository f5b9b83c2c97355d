import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { hostOf, readId } from './address.ts';
import { renderSecret } from './secret.ts';

export async function showRotateSecret(context: UserPageContext): Promise<Page> {
  const { actions, session, csrfField } = context;
  const id = readId(context);
  const { url, purpose, secretVersion } = unwrap(await actions.getWebhook(session, { id }));
  return {
    title: 'Rotate the secret?',
    breadcrumb: { href: `/webhooks/${id}`, text: hostOf(url) },
    body: html`<form class="panel gap form" method="post" action="/webhooks/${id}/rotate">${csrfField}
<input type="hidden" name="secretVersion" value="${secretVersion}">
<p>A new secret is made and shown once. For 24 hours <code>webhook-signature</code> has a signature with the old secret beside that with the new one; a receiver that checks <code>X-Webhook-Signature</code> needs the new secret at once.</p>
${purpose === 'subscription' && html`<p>The address that runs tasks from outside changes at once, because it contains the secret.</p>`}
<div class="do"><button class="primary">Rotate the secret</button><a class="button quiet" href="/webhooks/${id}">Keep it</a></div>
</form>`,
  };
}

/** Answers with the secret instead of a redirect. The form names the secret it replaces, so reloading rotates nothing. */
export async function rotateSecret(context: UserPageContext): Promise<Page> {
  const { actions, session, request } = context;
  const id = readId(context);
  const { url, purpose } = unwrap(await actions.getWebhook(session, { id }));
  const result = await actions.rotateSecret(session, { id, secretVersion: readForm(request).text('secretVersion') });
  if (!result.success && result.code === 'CONFLICT') return renderRotatedAlready(id, url);
  return renderSecret(context, {
    ...unwrap(result),
    url,
    title: 'New secret',
    subtitle: `of the webhook to ${hostOf(url)}`,
    isRotated: true,
    hasInboundAddress: purpose === 'subscription',
  });
}

const renderRotatedAlready = (id: string, url: string): Page => ({
  status: 409,
  title: 'Rotated already',
  breadcrumb: { href: `/webhooks/${id}`, text: hostOf(url) },
  body: html`<p>The secret was rotated since you opened the form, perhaps by sending it twice. The new one is not shown again; if you have not copied it, rotate it once more.</p>
<p class="do"><a class="button" href="/webhooks/${id}/rotate">Rotate it once more…</a><a class="button quiet" href="/webhooks/${id}">Open the webhook</a></p>`,
});
