import type { WebActionData } from '../../actions.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeDigest, describeQuiet } from './options.ts';

type Channel = WebActionData<'getChannel'>;

/** The address or the name in the other program that tells a channel from others of its kind. */
export function describePlace({ settings }: Pick<Channel, 'settings'>): string {
  const { address, chatId, topic, url, host, ...rest } = settings;
  const place = address ?? chatId ?? topic ?? url ?? host ?? Object.values(rest)[0] ?? '';
  const text = [place].flat().join(', ');
  return URL.canParse(text) && text.includes('://') ? new URL(text).host : text;
}

/** The settings of a channel in words, without its secrets. */
export function renderFacts(context: UserPageContext, channel: Omit<Channel, 'revision' | 'taskCount'>): Html {
  const { texts } = context;
  const { channels, deliveries, formats } = texts;
  const labels: Partial<Record<string, string>> = channels.settings;
  const { kind, settings, quiet, minIntervalMinutes, urgent, createdAt } = channel;
  const digest = describeDigest(texts, channel);
  const isHeld = quiet !== null || minIntervalMinutes !== null || digest !== null;
  return html`<dl class="facts">
<dt>${channels.kind}</dt><dd>${channels.kinds[kind]}</dd>
${Object.entries(settings).map(
  ([name, value]) => html`<dt>${labels[name] ?? name}</dt><dd>${[value].flat().join(', ')}</dd>`,
)}
<dt>${channels.frequency}</dt><dd>${digest ?? (minIntervalMinutes === null ? channels.eachMessage : channels.oneEvery(minIntervalMinutes))}</dd>
${digest !== null && minIntervalMinutes !== null && html`<dt>${channels.interval}</dt><dd>${channels.oneEvery(minIntervalMinutes)}</dd>`}
${quiet !== null && html`<dt>${channels.quietHours}</dt><dd>${describeQuiet(texts, quiet)}</dd>`}
${isHeld && html`<dt>${channels.alerts}</dt><dd>${urgent ? channels.alertsUrgent : channels.alertsHeld}</dd>`}
<dt>${deliveries.created}</dt><dd>${formats.momentLabel(new Date(createdAt), context)}</dd>
</dl>`;
}
