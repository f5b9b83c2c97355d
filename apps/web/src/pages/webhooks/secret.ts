import { html, raw } from '../../html.ts';
import type { Page, UserPageContext } from '../../page.ts';
import { hostOf } from './address.ts';

interface NewSecret {
  id: string;
  url: string;
  secret: string;
  title: string;
  subtitle: string;
  /** Whether a secret before this one still signs. */
  isRotated: boolean;
  hasInboundAddress: boolean;
}

const EXAMPLE = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
// Throws unless the request came from here.
const event = webhook.verify(body, headers);`;

/** Shows a secret, in the answer to the form that has made it: it stands in no address, no cookie and no other page. */
export function renderSecret(context: UserPageContext, given: NewSecret): Page {
  const { id, url, secret, title, subtitle, isRotated, hasInboundAddress } = given;
  const { dashboard, viewer } = context;
  return {
    title,
    subtitle,
    breadcrumb: { href: `/webhooks/${id}`, text: hostOf(url) },
    body: html`<div class="notice warn"><p><b>The secret is shown this once.</b> Copy it now: it cannot be shown again, only replaced by a new one.</p></div>
<section aria-labelledby="secret-head">
<div class="head"><h2 id="secret-head">Secret</h2></div>
<pre class="secret" ${raw('tabindex="0"')} aria-labelledby="secret-head" translate="no">${secret}</pre>
</section>
<section aria-labelledby="todo"><div class="head"><h2 id="todo">What to do with it</h2></div>
<ol class="numbered">
<li>Give it to the receiver, as a setting or an environment variable, not in its code.</li>
<li>Let the receiver check each request by the headers <code>webhook-id</code>, <code>webhook-timestamp</code> and <code>webhook-signature</code> of <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a>, over the body as it came. There are libraries for most languages, such as:
<pre tabindex="0" aria-label="Example in JavaScript">${EXAMPLE}</pre></li>
${
  isRotated
    ? html`<li>For 24 hours, requests are signed with the secret before too, so that nothing is lost while you change the receiver.</li>`
    : html`<li>Send a test from the page of the webhook and see what the receiver answers.</li>`
}
</ol></section>
${
  hasInboundAddress &&
  html`<section aria-labelledby="inbound"><div class="head"><h2 id="inbound">Running tasks from outside</h2></div>
<p>A program that has the secret can run your tasks by a signed <code>POST</code> of <code>{"taskId": 1}</code> to this address. It contains the secret.</p>
<pre class="after" tabindex="0" aria-labelledby="inbound" translate="no">${dashboard.appUrl}/api/webhooks/${viewer.id}/${secret}</pre></section>`
}
<p class="do"><a class="button primary" href="/webhooks/${id}">I have copied it</a></p>`,
  };
}
