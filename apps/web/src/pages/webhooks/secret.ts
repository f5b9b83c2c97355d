import { renderCopyButton } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { ASSET_URLS } from '../../http/assets.ts';
import type { Page, UserPageContext } from '../../page.ts';

interface NewSecret {
  id: string;
  name: string;
  secret: string;
  title: string;
  subtitle: string;
  /** Whether a secret before this one still signs. */
  isRotated: boolean;
  hasInboundAddress: boolean;
}

const EXAMPLE = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
const event = webhook.verify(body, headers);`;

const renderCode = (text: string) => html`<code>${text}</code>`;
const renderStandard = (text: string) => html`<a href="https://www.standardwebhooks.com" rel="noreferrer">${text}</a>`;

/** Shows a secret, in the answer to the form that has made it: it stands in no address, no cookie and no other page. */
export function renderSecret(context: UserPageContext, given: NewSecret): Page {
  const { id, name, secret, title, subtitle, isRotated, hasInboundAddress } = given;
  const { dashboard, viewer, texts } = context;
  const { webhooks, forms } = texts;
  return {
    title,
    subtitle,
    breadcrumb: { href: `/webhooks/${id}`, text: name },
    scripts: [ASSET_URLS.copy],
    body: html`<div class="notice warn"><p><b>${webhooks.secretOnce}</b> ${webhooks.secretCopy}</p></div>
<section aria-labelledby="secret-head">
<div class="head"><h2 id="secret-head">${webhooks.secret}</h2></div>
<div class="copied-code"><pre class="secret" id="secret" tabindex="0" role="group" aria-labelledby="secret-head" translate="no">${secret}</pre>${renderCopyButton('secret', texts)}</div>
</section>
<section aria-labelledby="todo"><div class="head"><h2 id="todo">${webhooks.nextSteps}</h2></div>
<ol class="numbered">
<li>${webhooks.storeSecret}</li>
<li>${webhooks.checkHeaders(renderCode, renderStandard)}
<pre tabindex="0" role="group" aria-label="${webhooks.example}">${EXAMPLE}</pre></li>
${isRotated ? html`<li>${webhooks.previousSecret}</li>` : html`<li>${webhooks.testIt}</li>`}
</ol></section>
${
  hasInboundAddress &&
  html`<section aria-labelledby="inbound"><div class="head"><h2 id="inbound">${webhooks.inbound}</h2></div>
<p>${webhooks.inboundText(renderCode)}</p>
<div class="copied-code after"><pre id="inbound-url" tabindex="0" role="group" aria-labelledby="inbound" translate="no">${dashboard.appUrl}/api/webhooks/${viewer.id}/${secret}</pre>${renderCopyButton('inbound-url', texts)}</div></section>`
}
<p class="do"><a class="button primary" href="/webhooks/${id}">${forms.copied}</a></p>`,
  };
}
