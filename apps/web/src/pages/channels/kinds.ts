import type { ChannelKind } from '@carillon/contract/channels/channels';
import type { Texts } from '@carillon/texts';

export type SettingName = 'url' | 'botToken' | 'chatId' | 'topic' | 'token' | 'urls' | 'key' | 'address';

export interface SettingField {
  name: SettingName;
  text: keyof Texts['channelGuides']['fields'];
  /** What the value begins with, for the hint. */
  prefix?: string;
  /** Never shown again, so an empty field keeps what is stored. */
  isSecret?: boolean;
  isOptional?: boolean;
  type?: 'url' | 'email' | 'text';
  /** What the field begins with. */
  start?: string;
}

/** What the form of a kind has besides its texts. */
export interface KindGuide {
  /** Where the steps link to. */
  site?: string;
  fields: readonly SettingField[];
}

const webhookUrl = (prefix: string): SettingField => ({ name: 'url', text: 'webhookUrl', prefix, isSecret: true });

export const KIND_GUIDES: Record<ChannelKind, KindGuide> = {
  slack: { site: 'https://api.slack.com/apps', fields: [webhookUrl('https://hooks.slack.com/services/')] },
  mattermost: { fields: [webhookUrl('https://your-server/hooks/')] },
  teams: { fields: [webhookUrl('https://')] },
  discord: { fields: [webhookUrl('https://discord.com/api/webhooks/')] },
  telegram: {
    site: 'https://t.me/BotFather',
    fields: [
      { name: 'botToken', text: 'botToken', isSecret: true },
      { name: 'chatId', text: 'chatId' },
    ],
  },
  ntfy: {
    site: 'https://ntfy.sh',
    fields: [
      { name: 'url', text: 'ntfyServer', type: 'url', start: 'https://ntfy.sh' },
      { name: 'topic', text: 'topic' },
      { name: 'token', text: 'accessToken', isSecret: true, isOptional: true },
    ],
  },
  apprise: {
    site: 'https://github.com/caronc/apprise-api',
    fields: [
      { name: 'url', text: 'appriseServer', type: 'url' },
      { name: 'key', text: 'key', isSecret: true, isOptional: true },
      { name: 'urls', text: 'urls', isSecret: true, isOptional: true },
    ],
  },
  email: { fields: [{ name: 'address', text: 'address', type: 'email' }] },
};

export const KINDS = Object.keys(KIND_GUIDES) as ChannelKind[];

export const isKind = (text: string): text is ChannelKind => Object.hasOwn(KIND_GUIDES, text);
