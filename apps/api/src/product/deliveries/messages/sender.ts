import type { ShownSettings } from '@carillon/db';
import type { Context } from '../../../context.ts';
import type { HttpOutcome } from '../../../lib/egress/client.ts';
import type { ChannelMessage } from './message.ts';

/** The settings of a kind, as given or as stored. All of them are stored encrypted. */
export interface ChannelSettings {
  url?: string;
  botToken?: string;
  chatId?: string;
  topic?: string;
  token?: string;
  urls?: string[];
  key?: string;
  address?: string;
  /** Of `email`: what the link that ends the mails has. */
  unsubscribeToken?: string;
}

export interface OutgoingMessage {
  /** Of the delivery: the same for each attempt. */
  id: string;
  channelId: string;
  message: ChannelMessage;
  signal?: AbortSignal;
}

/** What a mail server has done with a mail, for which there is no HTTP status. */
interface MailedOutcome {
  kind: 'mailed';
  status: null;
  error: string | null;
}

export type SendOutcome = (HttpOutcome | MailedOutcome) & {
  /** How long the target wants no further attempt, in milliseconds. */
  retryAfterMs?: number;
  /** The target will never accept a message again: its hook was deleted, the bot was thrown out. */
  isGone?: boolean;
};

/** How a kind of channel is set up and sent to. */
export interface ChannelSender {
  /** Names as people write them, such as `Slack`. */
  title: string;
  /** The settings that the kind takes. */
  fields: readonly (keyof ChannelSettings)[];
  /** Throws 400 that names the field for settings that are missing or cannot be used. */
  check(ctx: Context, settings: ChannelSettings): void;
  /** What may be shown, and an address without secrets for the log. */
  show(settings: ChannelSettings): { shown: ShownSettings; url: string };
  /** Never rejects. Errors have no secrets. */
  send(ctx: Context, settings: ChannelSettings, outgoing: OutgoingMessage): Promise<SendOutcome>;
}
