import type { WebActionData } from '../../actions.ts';
import { countWords, formatMomentInText } from '../../components/format.ts';
import { renderIcon } from '../../components/status-icon.ts';
import { renderPager } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { readId } from '../webhooks/address.ts';
import { renderDeliveryStrip } from '../webhooks/states.ts';
import { renderMark } from './badges.ts';
import { describePlace, renderFacts } from './details.ts';
import { KIND_GUIDES } from './kinds.ts';
import { explainWaits, renderMessages } from './messages.ts';
import { renderChannelState } from './states.ts';

type Shown = WebActionData<'showChannel'>;
type Channel = Shown['channel'];

const SEARCHED = 1000;

const renderSwitch = ({ csrfField }: UserPageContext, { id, status }: Channel, isPrimary: boolean): Html =>
  html`<form method="post" action="/channels/${id}/switch">${csrfField}<button class="${isPrimary && 'primary'}" name="isActive" value="${
    status === 'active' ? 'false' : 'true'
  }">Switch ${status === 'active' ? 'off' : 'on'}</button></form>`;

const renderTest = ({ csrfField }: UserPageContext, { id }: Channel, isPrimary: boolean): Html =>
  html`<form method="post" action="/channels/${id}/test">${csrfField}<button class="${isPrimary && 'primary'}">Send a test</button></form>`;

const atLeast = (count: number) => (count >= SEARCHED ? ' or more' : '');

const renderUnconfirmed = ({ csrfField }: UserPageContext, { id, settings }: Channel): Html =>
  html`<div class="notice warn" role="region" aria-labelledby="why">${renderIcon('waiting')}
<h2 id="why">The address has to be confirmed first</h2>
<p>A mail with a link went to <b>${settings.address}</b>. Nothing else is sent before the link is opened, so that no mailbox gets mails that its owner did not ask for.</p>
<form class="do" method="post" action="/channels/${id}/confirm">${csrfField}<button>Send the link again</button></form></div>`;

/** Why nothing is sent, and what to do. */
function renderWhyOff(context: UserPageContext, channel: Channel): Html {
  const { id, status, lastAttempt, waiting, isConfirmed, kind } = channel;
  if (!isConfirmed) return renderUnconfirmed(context, channel);
  if (status === 'inactive') {
    const waits = waiting > 0 && ` ${countWords(waiting, 'message')}${atLeast(waiting)} from before will be sent then.`;
    return html`<div class="notice warn" role="region" aria-labelledby="why">${renderIcon('paused')}
<h2 id="why">Nothing is sent: the channel is off</h2>
<p>What happens meanwhile is not sent, also not later.${waits}</p>
<p class="do">${renderSwitch(context, channel, true)}</p></div>`;
  }
  if (status === 'active') return EMPTY;
  const last =
    lastAttempt !== null &&
    !lastAttempt.success &&
    html` The last attempt, ${formatMomentInText(lastAttempt.at, context.timeZone, context.now)}, ended so: ${lastAttempt.error}`;
  return html`<div class="notice" role="region" aria-labelledby="why">${renderIcon('failed')}
<h2 id="why">Nothing is sent: ${KIND_GUIDES[kind].title} did not take a message</h2>
<p>Every attempt failed, or the target said that it will never take one, so Carillon has switched the channel off.${last}</p>
<p><b>What to do:</b> if the target was deleted or its secret has changed, <a href="/channels/${id}/edit">give the new one</a>. Send a test, then switch the channel on. What failed can be sent again after that.</p>
<div class="do">${renderTest(context, channel, false)}${renderSwitch(context, channel, true)}</div></div>`;
}

function renderUse({ tasks, taskCount, isForAccount }: Channel): Html {
  const more = taskCount - tasks.length;
  const isUsed = taskCount > 0 || isForAccount;
  return html`<section aria-labelledby="use"><h2 id="use" class="head">Used by</h2>
${
  isUsed
    ? html`<ul class="uses">${tasks.map(({ taskId, taskName }) => html`<li><a href="/tasks/${taskId}">${taskName}</a></li>`)}${
        more > 0 && html`<li class="muted">and ${countWords(more, 'task')} more</li>`
      }${isForAccount && html`<li>Your <a href="/settings#notifications">settings</a>: notifications of the account</li>`}</ul>`
    : html`<p>No task so far. Choose it on the form of a <a href="/tasks">task</a>, or for the notifications of your account in the <a href="/settings#notifications">settings</a>.</p>`
}</section>`;
}

const renderActions = ({
  id,
}: Channel): Html => html`<section aria-labelledby="change"><h2 id="change" class="head">Change it</h2>
<div class="do"><a class="button" href="/channels/${id}/edit">Edit</a><a class="button danger" href="/channels/${id}/delete">Delete…</a></div></section>`;

function renderLog(
  context: UserPageContext,
  { channel, deliveries, nextCursor }: Shown,
  cursor: string | undefined,
): Html {
  if (deliveries.length === 0) {
    return html`<div class="panel empty"><p>Each message will stand here, with what the target answered to each attempt.</p>
<p>Nothing was sent so far.${channel.isConfirmed && channel.status === 'active' && ' A test goes out at once.'}</p></div>`;
  }
  return html`${renderMessages(context, channel, deliveries)}${explainWaits(deliveries)}${
    (cursor !== undefined || nextCursor !== null) &&
    renderPager({
      path: `/channels/${channel.id}`,
      query: { cursor },
      nextCursor,
      text: 'Newest first, 25 on a page',
    })
  }`;
}

/** A channel with its messages: whether they arrive, and if not, why. */
export async function showChannel(context: UserPageContext): Promise<Page> {
  const { actions, session, request, timeZone } = context;
  const id = readId(context);
  const { cursor } = readQuery(request);
  const shown = unwrap(await actions.showChannel(session, { id, ...(cursor && { cursor }) }));
  const { channel } = shown;
  const { kind, latest, failed, isConfirmed } = channel;
  const isOn = channel.status === 'active' && isConfirmed;
  const place = describePlace(channel);
  return {
    title: channel.name,
    breadcrumb: { href: '/channels', text: 'Channels' },
    subtitle: html`<span class="kind">${renderMark(kind)}${KIND_GUIDES[kind].title}${place !== '' && `, ${place}`}</span> · ${renderChannelState(channel)}${
      failed > 0 && html` · ${countWords(failed, 'message')}${atLeast(failed)} failed`
    }`,
    isLive: true,
    aside: isOn ? html`${renderTest(context, channel, true)}${renderSwitch(context, channel, false)}` : undefined,
    body: html`${renderWhyOff(context, channel)}
<div class="split">
<section aria-labelledby="log"><div class="head"><h2 id="log">Messages</h2><p>Times in ${timeZone}</p></div>
${latest.length > 0 && html`<div class="over">${renderDeliveryStrip(latest)}</div>`}
${renderLog(context, shown, cursor)}
</section>
<aside class="gap-l" aria-label="The channel">
${renderUse(channel)}
<section aria-labelledby="facts"><h2 id="facts" class="head">About it</h2>
${renderFacts(context, channel)}</section>
${renderActions(channel)}
</aside>
</div>`,
  };
}
