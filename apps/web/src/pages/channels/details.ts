import type { WebActionData } from '../../actions.ts';
import { formatMoment } from '../../components/format.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { KIND_GUIDES } from './kinds.ts';
import { describeDigest, describeInterval, describeQuiet } from './options.ts';

type Channel = WebActionData<'getChannel'>;

const LABELS: Record<string, string> = {
  url: 'Server',
  host: 'Host',
  chatId: 'Chat',
  topic: 'Topic',
  address: 'Address',
};

/** The address or the name in the other program that tells a channel from others of its kind. */
export function describePlace({ settings }: Pick<Channel, 'settings'>): string {
  const { address, chatId, topic, url, host, ...rest } = settings;
  const place = address ?? chatId ?? topic ?? url ?? host ?? Object.values(rest)[0] ?? '';
  const text = [place].flat().join(', ');
  return URL.canParse(text) && text.includes('://') ? new URL(text).host : text;
}

/** The settings of a channel in words, without its secrets. */
export function renderFacts(
  { timeZone, now }: UserPageContext,
  channel: Omit<Channel, 'revision' | 'taskCount'>,
): Html {
  const { kind, settings, quiet, minIntervalMinutes, urgent, createdAt } = channel;
  const digest = describeDigest(channel);
  const isHeld = quiet !== null || minIntervalMinutes !== null || digest !== null;
  return html`<dl class="facts">
<dt>Kind</dt><dd>${KIND_GUIDES[kind].title}</dd>
${Object.entries(settings).map(
  ([name, value]) => html`<dt>${LABELS[name] ?? name}</dt><dd>${[value].flat().join(', ')}</dd>`,
)}
<dt>Sends</dt><dd>${digest ?? (minIntervalMinutes === null ? 'each message at once' : describeInterval(minIntervalMinutes))}</dd>
${digest !== null && minIntervalMinutes !== null && html`<dt>Interval</dt><dd>${describeInterval(minIntervalMinutes)}</dd>`}
${quiet !== null && html`<dt>Quiet hours</dt><dd>${describeQuiet(quiet)}</dd>`}
${isHeld && html`<dt>Alarms</dt><dd>${urgent ? 'are sent at once' : 'wait like other messages'}</dd>`}
<dt>Created</dt><dd>${formatMoment(new Date(createdAt), timeZone, now)}</dd>
</dl>`;
}
