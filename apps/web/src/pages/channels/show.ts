import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { renderIcon } from '../../components/status-icon.ts';
import { renderPager } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import { readUuid } from '../../http/path-ids.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { renderSwitch, renderTest } from '../webhooks/buttons.ts';
import { renderDeliveryStrip } from '../webhooks/states.ts';
import { renderMark } from './badges.ts';
import { describePlace, renderFacts } from './details.ts';
import { explainWaits, renderMessages } from './messages.ts';
import { renderChannelState } from './states.ts';

type Shown = WebActionData<'showChannel'>;
type Channel = Shown['channel'];

const SEARCHED = 1000;
const PAGE_SIZE = 25;

const renderUnconfirmed = ({ csrfField, texts: { channels } }: UserPageContext, { id, settings }: Channel): Html =>
  html`<div class="notice warn" role="region" aria-labelledby="why">${renderIcon('waiting')}
<h2 id="why">${channels.unconfirmedTitle}</h2>
<p>${channels.unconfirmed(html`<b>${settings.address}</b>`)}</p>
<form class="do" method="post" action="/channels/${id}/confirm">${csrfField}<button>${channels.sendLinkAgain}</button></form></div>`;

/** Why nothing is sent, and what to do. */
function renderWhyOff(context: UserPageContext, channel: Channel): Html {
  const { id, status, lastAttempt, waiting, isConfirmed, kind } = channel;
  const { channels, deliveries, formats } = context.texts;
  if (!isConfirmed) return renderUnconfirmed(context, channel);
  if (status === 'inactive') {
    return html`<div class="notice warn" role="region" aria-labelledby="why">${renderIcon('paused')}
<h2 id="why">${channels.offTitle}</h2>
<p>${channels.offText}${waiting > 0 && ` ${channels.waiting(waiting, waiting >= SEARCHED)}`}</p>
<p class="do">${renderSwitch(context, `/channels/${id}`, status, true)}</p></div>`;
  }
  if (status === 'active') return EMPTY;
  const last =
    lastAttempt !== null &&
    !lastAttempt.success &&
    ` ${deliveries.lastAttempt(formats.momentOn(new Date(lastAttempt.at), context), lastAttempt.error ?? '')}`;
  return html`<div class="notice" role="region" aria-labelledby="why">${renderIcon('failed')}
<h2 id="why">${channels.failedTitle(channels.kinds[kind])}</h2>
<p>${deliveries.switchedOff}${last}</p>
<p><b>${deliveries.fix}</b> ${channels.fix((text) => html`<a href="/channels/${id}/edit">${text}</a>`)}</p>
<div class="do">${renderTest(context, `/channels/${id}`, false)}${renderSwitch(context, `/channels/${id}`, status, true)}</div></div>`;
}

const renderSettingsLink = (text: string) => html`<a href="/settings/notifications">${text}</a>`;
const renderTasksLink = (text: string) => html`<a href="/tasks">${text}</a>`;

function renderUse({ channels }: Texts, { tasks, taskCount, isForAccount }: Channel): Html {
  const more = taskCount - tasks.length;
  const isUsed = taskCount > 0 || isForAccount;
  return html`<section aria-labelledby="use"><h2 id="use" class="head">${channels.usedBy}</h2>
${
  isUsed
    ? html`<ul class="uses">${tasks.map(({ taskId, taskName }) => html`<li><a href="/tasks/${taskId}">${taskName}</a></li>`)}${
        more > 0 && html`<li class="muted">${channels.useAndMore(more)}</li>`
      }${isForAccount && html`<li>${channels.useOfAccount(renderSettingsLink)}</li>`}</ul>`
    : html`<p>${channels.useNone(renderTasksLink, renderSettingsLink)}</p>`
}</section>`;
}

const renderActions = (
  { lists, forms }: Texts,
  { id }: Channel,
): Html => html`<section aria-labelledby="change"><h2 id="change" class="head">${lists.actions}</h2>
<div class="do"><a class="button" href="/channels/${id}/edit">${forms.edit}</a><a class="button danger" href="/channels/${id}/delete">${forms.delete}</a></div></section>`;

function renderLog(
  context: UserPageContext,
  { channel, deliveries, nextCursor }: Shown,
  cursor: string | undefined,
): Html {
  const { texts } = context;
  if (deliveries.length === 0) {
    return html`<div class="panel empty"><p>${texts.channels.noMessages}${
      channel.isConfirmed && channel.status === 'active' && ` ${texts.channels.sendTestToTry}`
    }</p></div>`;
  }
  return html`${renderMessages(context, channel, deliveries)}${explainWaits(texts, deliveries)}${
    (cursor !== undefined || nextCursor !== null) &&
    renderPager({
      path: `/channels/${channel.id}`,
      query: { cursor },
      nextCursor,
      text: texts.lists.newestFirst(PAGE_SIZE),
      texts,
    })
  }`;
}

/** A channel with its messages: whether they arrive, and if not, why. */
export async function showChannel(context: UserPageContext): Promise<Page> {
  const { actions, session, request, timeZone, texts } = context;
  const { channels, deliveries, lists } = texts;
  const id = readUuid(context);
  const { cursor } = readQuery(request);
  const shown = unwrap(await actions.showChannel(session, { id, ...(cursor && { cursor }) }));
  const { channel } = shown;
  const { kind, latest, failed, isConfirmed } = channel;
  const isOn = channel.status === 'active' && isConfirmed;
  const place = describePlace(channel);
  return {
    title: channel.name,
    breadcrumb: { href: '/channels', text: channels.title },
    subtitle: html`<span class="kind">${renderMark(kind)}${channels.kinds[kind]}${place !== '' && `, ${place}`}</span> · ${renderChannelState(texts, channel)}${
      failed > 0 && ` · ${channels.failed(failed, failed >= SEARCHED)}`
    }`,
    isLive: true,
    aside: isOn
      ? html`${renderTest(context, `/channels/${id}`, true)}${renderSwitch(context, `/channels/${id}`, channel.status, false)}`
      : undefined,
    body: html`${renderWhyOff(context, channel)}
<div class="split">
<section aria-labelledby="log"><div class="head"><h2 id="log">${channels.messages}</h2><p>${lists.timesIn(timeZone)}</p></div>
${latest.length > 0 && html`<div class="over">${renderDeliveryStrip(texts, latest)}</div>`}
${renderLog(context, shown, cursor)}
</section>
<aside class="gap-l" aria-label="${channels.channel}">
${renderUse(texts, channel)}
<section aria-labelledby="facts"><h2 id="facts" class="head">${deliveries.details}</h2>
${renderFacts(context, channel)}</section>
${renderActions(texts, channel)}
</aside>
</div>`,
  };
}
