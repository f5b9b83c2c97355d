import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { renderDeliveryState, renderDeliveryStrip } from '../webhooks/states.ts';
import { renderMark } from './badges.ts';
import { describePlace } from './details.ts';
import { renderKinds } from './new.ts';
import { renderChannelState } from './states.ts';

type Channel = WebActionData<'listChannels'>['channels'][number];

const SHOWN_TASKS = 2;

/** `Morning news, Price watch and 3 more` */
function renderUse({ channels }: Texts, { tasks, taskCount, isForAccount }: Channel): Html {
  const names = tasks.slice(0, SHOWN_TASKS);
  const more = taskCount - names.length;
  const entries = [
    ...names.map(({ taskId, taskName }) => html`<a href="/tasks/${taskId}">${taskName}</a>`),
    ...(more > 0 ? [html`${names.length === 0 ? channels.tasks(more) : channels.more(more)}`] : []),
    ...(isForAccount
      ? [html`${channels.yourSettings((text) => html`<a href="/settings/notifications">${text}</a>`)}`]
      : []),
  ];
  if (entries.length === 0) return html`<span class="muted">${channels.unused}</span>`;
  return html`${entries.map((entry, at) => html`${at > 0 && ', '}${entry}`)}`;
}

function renderChannel(context: UserPageContext, channel: Channel): Html {
  const { texts } = context;
  const { channels, deliveries } = texts;
  const { id, kind, name, latest } = channel;
  const [last] = latest;
  const place = describePlace(channel);
  return renderRow(
    renderRowHead(
      html`<span class="marked">${renderMark(kind)}<span><a href="/channels/${id}">${name}</a><span class="sub">${channels.kinds[kind]}${place !== '' && place !== name && `, ${place}`}</span></span></span>`,
      { class: 'host' },
    ),
    renderCell(renderChannelState(texts, channel)),
    renderCell(
      latest.length > 0 ? renderDeliveryStrip(texts, latest) : html`<span class="sub">${deliveries.nothingSent}</span>`,
      {
        class: 'picture whole',
      },
    ),
    renderCell(
      last
        ? html`${renderDeliveryState(texts, last)}<span class="sub">${renderMoment(last.createdAt, context)}</span>`
        : EMPTY,
      { class: 'whole' },
    ),
    renderCell(renderUse(texts, channel), { class: 'whole', label: channels.usedBy }),
  );
}

const renderEmpty = (texts: Texts): Html => html`<section class="gap" aria-labelledby="kinds">
<p class="lead">${texts.channels.empty}</p>
<h2 id="kinds">${texts.channels.add}</h2>
${renderKinds(texts)}
</section>`;

function renderList(context: UserPageContext, found: readonly Channel[]): Html {
  const { channels, deliveries } = context.texts;
  return renderTable(
    channels.caption,
    [channels.channel, deliveries.status, channels.latest, channels.last, channels.usedBy].map((head) => ({ head })),
    found.map((channel) => renderChannel(context, channel)),
  );
}

/** The list answers whether messages arrive, and who sends them. */
export async function showChannels(context: UserPageContext): Promise<Page> {
  const { actions, session, texts } = context;
  const { channels } = unwrap(await actions.listChannels(session, {}));
  const { title, subtitle } = texts.channels;
  if (channels.length === 0) return { title, isLive: true, body: renderEmpty(texts) };
  return {
    title,
    subtitle,
    isLive: true,
    aside: html`<a class="button primary" href="/channels/new">${texts.channels.new}</a>`,
    body: html`<section aria-label="${title}">${renderList(context, channels)}</section>`,
  };
}
