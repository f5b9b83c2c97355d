import type { ChannelChoice } from '@carillon/contract/channels/choices';
import { type Html, html, raw } from '../html.ts';
import { type FormErrors, renderFieldError } from './fields.ts';

export const CHANNEL_TITLES: Record<ChannelChoice['kind'], string> = {
  slack: 'Slack',
  mattermost: 'Mattermost',
  teams: 'Teams',
  discord: 'Discord',
  telegram: 'Telegram',
  ntfy: 'ntfy',
  apprise: 'Apprise',
  email: 'E-mail',
};

const WHY_SILENT: Record<ChannelChoice['state'], string | null> = {
  on: null,
  off: 'switched off',
  failed: 'off since it failed',
  unconfirmed: 'not confirmed yet',
};

const describeChannel = ({ kind, state }: ChannelChoice): Html => {
  const why = WHY_SILENT[state];
  return html`${CHANNEL_TITLES[kind]}${why !== null && html`, <b>${why}</b>`}`;
};

interface Boxes {
  legend: string;
  channels: readonly ChannelChoice[];
  chosen: readonly string[];
  /** Said under the boxes. */
  hint: Html | string;
  errors: FormErrors;
}

/** A box for each channel of the account. A channel that gets nothing now is marked, and can be chosen. */
export function renderChannelBoxes({ legend, channels, chosen, hint, errors }: Boxes): Html {
  const isWrong = errors.fields.channels !== undefined;
  return html`<fieldset class="ticks" id="channels"${isWrong && raw(' aria-describedby="channels-error" tabindex="-1"')}><legend>${legend}</legend>${
    channels.length === 0
      ? html`<p class="hint">A chat, a phone or a mailbox. <a href="/channels/new">Add a channel</a></p>`
      : html`${channels.map(
          (channel) =>
            html`<label class="check"><input type="checkbox" name="channels" value="${channel.id}"${chosen.includes(channel.id) && raw(' checked')}><span>${channel.name}<span class="hint">${describeChannel(channel)}</span></span></label>`,
        )}<p class="hint">${hint}</p>`
  }${renderFieldError('channels', errors)}</fieldset>`;
}

/** Each channel with a link to its page. */
export const renderChannels = (channels: readonly ChannelChoice[]): Html =>
  html`${channels.map(
    (channel) =>
      html`<div><a href="/channels/${channel.id}">${channel.name}</a><span class="sub">${describeChannel(channel)}</span></div>`,
  )}`;
