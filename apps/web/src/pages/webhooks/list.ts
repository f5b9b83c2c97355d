import type { WebActionData } from '../../actions.ts';
import { renderCell, renderPager, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { hostOf } from './address.ts';
import { describeEvents } from './events.ts';
import { renderDeliveryState, renderDeliveryStrip, renderOwner, renderState } from './states.ts';

type Webhook = WebActionData<'listWebhooks'>['webhooks'][number];

const COLUMNS = [
  { head: 'Webhook' },
  { head: 'State' },
  { head: 'Last 30 deliveries' },
  { head: 'Last delivery' },
  { head: 'Sent when' },
];

function renderWebhook(context: UserPageContext, webhook: Webhook): Html {
  const { id, url, description, status, latest, events } = webhook;
  const owner = renderOwner(webhook);
  const [last] = latest;
  return renderRow(
    renderRowHead(
      html`<a href="/webhooks/${id}">${hostOf(url)}</a><span class="sub">${owner ?? description ?? ''}</span>`,
      { class: 'host' },
    ),
    renderCell(renderState(status)),
    renderCell(latest.length > 0 ? renderDeliveryStrip(latest) : html`<span class="sub">nothing sent yet</span>`, {
      class: 'picture whole',
    }),
    renderCell(
      last
        ? html`${renderDeliveryState(last)}<span class="sub">${renderMoment(last.createdAt, context)}</span>`
        : html`–`,
      { class: 'whole' },
    ),
    renderCell(describeEvents(events), { class: 'whole', label: 'Sent when' }),
  );
}

const EMPTY_LIST = html`<div class="panel empty">
<p>The addresses that Carillon calls when something happens will stand here, each with its last deliveries.</p>
<p>A webhook tells another program at once that a run has completed or failed: a chat, a status page, your own code.</p>
<p><a class="button" href="/webhooks/new">Create a webhook</a></p>
</div>`;

/** The list answers whether each webhook is being delivered. */
export async function showWebhooks(context: UserPageContext): Promise<Page> {
  const { actions, session, request } = context;
  const { cursor } = readQuery(request);
  const { webhooks, nextCursor } = unwrap(await actions.listWebhooks(session, { ...(cursor && { cursor }) }));
  const hasPages = cursor !== undefined || nextCursor !== null;
  return {
    title: 'Webhooks',
    subtitle: 'Addresses that are called when something happens.',
    isLive: true,
    aside: html`<a class="button primary" href="/webhooks/new">New webhook</a>`,
    body:
      webhooks.length === 0 && !hasPages
        ? EMPTY_LIST
        : html`<section aria-label="Webhooks">${renderTable(
            'Webhooks, newest first',
            COLUMNS,
            webhooks.map((webhook) => renderWebhook(context, webhook)),
          )}${
            hasPages &&
            renderPager({ path: '/webhooks', query: { cursor }, nextCursor, text: 'Newest first, 25 on a page' })
          }</section>`,
  };
}
