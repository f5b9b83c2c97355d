import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { hostOf, nameWebhook } from '../../components/first-line.ts';
import { renderCell, renderPager, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { describeEvents } from './events.ts';
import { renderDeliveryState, renderDeliveryStrip, renderOwner, renderState } from './states.ts';

type Webhook = WebActionData<'listWebhooks'>['webhooks'][number];

function renderWebhook(context: UserPageContext, webhook: Webhook): Html {
  const { texts } = context;
  const { id, url, description, status, latest, events } = webhook;
  const owner = renderOwner(texts, webhook);
  const [last] = latest;
  return renderRow(
    renderRowHead(
      html`<a href="/webhooks/${id}">${nameWebhook(webhook)}</a><span class="sub">${owner ?? (description ? hostOf(url) : '')}</span>`,
      { class: 'host' },
    ),
    renderCell(renderState(texts, status)),
    renderCell(
      latest.length > 0
        ? renderDeliveryStrip(texts, latest)
        : html`<span class="sub">${texts.deliveries.nothingSent}</span>`,
      { class: 'picture whole' },
    ),
    renderCell(
      last
        ? html`${renderDeliveryState(texts, last)}<span class="sub">${renderMoment(last.createdAt, context)}</span>`
        : html`–`,
      { class: 'whole' },
    ),
    renderCell(describeEvents(texts, events), { class: 'whole', label: texts.webhooks.events }),
  );
}

const renderEmpty = ({ webhooks }: Texts): Html => html`<div class="panel empty">
<p>${webhooks.empty}</p>
<p><a class="button" href="/webhooks/new">${webhooks.create}</a></p>
</div>`;

function renderList(context: UserPageContext, found: readonly Webhook[]): Html {
  const { webhooks, deliveries } = context.texts;
  return renderTable(
    webhooks.caption,
    [webhooks.webhook, deliveries.status, webhooks.latest, webhooks.last, webhooks.events].map((head) => ({ head })),
    found.map((webhook) => renderWebhook(context, webhook)),
  );
}

const PAGE_SIZE = 25;

/** The list answers whether each webhook is being delivered. */
export async function showWebhooks(context: UserPageContext): Promise<Page> {
  const { actions, session, request, texts } = context;
  const { cursor } = readQuery(request);
  const { webhooks: found, nextCursor } = unwrap(await actions.listWebhooks(session, { ...(cursor && { cursor }) }));
  const hasPages = cursor !== undefined || nextCursor !== null;
  return {
    title: texts.webhooks.title,
    subtitle: texts.webhooks.subtitle,
    isLive: true,
    aside: html`<a class="button primary" href="/webhooks/new">${texts.webhooks.new}</a>`,
    body:
      found.length === 0 && !hasPages
        ? renderEmpty(texts)
        : html`<section aria-label="${texts.webhooks.title}">${renderList(context, found)}${
            hasPages &&
            renderPager({
              path: '/webhooks',
              query: { cursor },
              nextCursor,
              text: texts.lists.newestFirst(PAGE_SIZE),
              texts,
            })
          }</section>`,
  };
}
