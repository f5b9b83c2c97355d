import type { ChannelChoice } from '@carillon/contract/channels/choices';
import type { Texts } from '@carillon/texts';
import { type Html, html, raw } from '../html.ts';
import { type FormErrors, renderFieldError } from './fields.ts';

function describeChannel({ channels }: Texts, { kind, state }: ChannelChoice): Html {
  const states: Record<ChannelChoice['state'], string | null> = {
    on: null,
    off: channels.choiceOff,
    failed: channels.choiceFailed,
    unconfirmed: channels.choiceUnconfirmed,
  };
  const problem = states[state];
  return html`${channels.kinds[kind]}${problem !== null && html`, <b>${problem}</b>`}`;
}

interface Boxes {
  legend: string;
  channels: readonly ChannelChoice[];
  chosen: readonly string[];
  /** Said under the boxes. */
  hint: Html | string;
  errors: FormErrors;
  texts: Texts;
}

/** A box for each channel. A channel that gets nothing now is marked, and can be chosen. */
export function renderChannelBoxes({ legend, channels, chosen, hint, errors, texts }: Boxes): Html {
  const isWrong = errors.fields.channels !== undefined;
  return html`<fieldset class="ticks" id="channels"${isWrong && raw(' aria-describedby="channels-error" tabindex="-1"')}><legend>${legend}</legend>${
    channels.length === 0
      ? html`<p class="hint">${texts.channels.noChoices((text) => html`<a href="/channels/new">${text}</a>`)}</p>`
      : html`${channels.map(
          (channel) =>
            html`<label class="check"><input type="checkbox" name="channels" value="${channel.id}"${chosen.includes(channel.id) && raw(' checked')}><span>${channel.name}<span class="hint">${describeChannel(texts, channel)}</span></span></label>`,
        )}<p class="hint">${hint}</p>`
  }${renderFieldError('channels', errors)}</fieldset>`;
}

/** Each channel with a link to its page. */
export const renderChannels = (texts: Texts, channels: readonly ChannelChoice[]): Html =>
  html`${channels.map(
    (channel) =>
      html`<div><a href="/channels/${channel.id}">${channel.name}</a><span class="sub">${describeChannel(texts, channel)}</span></div>`,
  )}`;
