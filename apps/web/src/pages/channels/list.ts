import type { WebActionData } from '../../actions.ts';
import { countWords } from '../../components/format.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { renderDeliveryState, renderDeliveryStrip } from '../webhooks/states.ts';
import { renderMark } from './badges.ts';
import { describePlace } from './details.ts';
import { KIND_GUIDES } from './kinds.ts';
import { renderKinds } from './new.ts';
import { renderChannelState } from './states.ts';

type Channel = WebActionData<'listChannels'>['channels'][number];

const COLUMNS = [
  { head: 'Channel' },
  { head: 'State' },
  { head: 'Last 30 messages' },
  { head: 'Last message' },
  { head: 'Used by' },
];

const SHOWN_TASKS = 2;

/** `Morning news, Price watch and 3 more` */
function renderUse({ tasks, taskCount, isForAccount }: Channel): Html {
  const names = tasks.slice(0, SHOWN_TASKS);
  const more = taskCount - names.length;
  const entries = [
    ...names.map(({ taskId, taskName }) => html`<a href="/tasks/${taskId}">${taskName}</a>`),
    ...(more > 0 ? [html`${names.length === 0 ? countWords(more, 'task') : `${more} more`}`] : []),
    ...(isForAccount ? [html`your <a href="/settings#notifications">settings</a>`] : []),
  ];
  if (entries.length === 0) return html`<span class="muted">no task yet</span>`;
  return html`${entries.map((entry, at) => html`${at > 0 && ', '}${entry}`)}`;
}

function renderChannel(context: UserPageContext, channel: Channel): Html {
  const { id, kind, name, latest } = channel;
  const [last] = latest;
  const place = describePlace(channel);
  return renderRow(
    renderRowHead(
      html`<span class="marked">${renderMark(kind)}<span><a href="/channels/${id}">${name}</a><span class="sub">${KIND_GUIDES[kind].title}${place !== '' && place !== name && `, ${place}`}</span></span></span>`,
      { class: 'host' },
    ),
    renderCell(renderChannelState(channel)),
    renderCell(latest.length > 0 ? renderDeliveryStrip(latest) : html`<span class="sub">nothing sent yet</span>`, {
      class: 'picture whole',
    }),
    renderCell(
      last
        ? html`${renderDeliveryState(last)}<span class="sub">${renderMoment(last.createdAt, context)}</span>`
        : EMPTY,
      { class: 'whole' },
    ),
    renderCell(renderUse(channel), { class: 'whole', label: 'Used by' }),
  );
}

const renderEmpty = (): Html => html`<section class="gap" aria-labelledby="kinds">
<p class="lead">A channel brings answers and alarms to where you read anyway: a chat, your phone or a mailbox.</p>
<h2 id="kinds">Begin with one</h2>
${renderKinds()}
</section>`;

/** The list answers whether messages arrive, and who sends them. */
export async function showChannels(context: UserPageContext): Promise<Page> {
  const { actions, session } = context;
  const { channels } = unwrap(await actions.listChannels(session, {}));
  if (channels.length === 0) return { title: 'Channels', isLive: true, body: renderEmpty() };
  return {
    title: 'Channels',
    subtitle: 'Where answers and alarms arrive.',
    isLive: true,
    aside: html`<a class="button primary" href="/channels/new">New channel</a>`,
    body: html`<section aria-label="Channels">${renderTable(
      'Channels, newest first',
      COLUMNS,
      channels.map((channel) => renderChannel(context, channel)),
    )}</section>`,
  };
}
