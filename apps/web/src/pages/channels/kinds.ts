import type { ChannelKind } from '@carillon/contract/channels/channels';
import { type Html, html } from '../../html.ts';

export type SettingName = 'url' | 'botToken' | 'chatId' | 'topic' | 'token' | 'urls' | 'key' | 'address';

export interface SettingField {
  name: SettingName;
  label: string;
  hint: Html | string;
  /** Never shown again, so an empty field keeps what is stored. */
  isSecret?: boolean;
  isOptional?: boolean;
  type?: 'url' | 'email' | 'text';
  /** What the field begins with. */
  start?: string;
}

/** What a person needs to know about a kind, and to look up in its program. */
export interface KindGuide {
  title: string;
  /** For the choice of a kind: where messages arrive. */
  what: string;
  /** Above the steps. */
  place: string;
  steps: readonly (Html | string)[];
  fields: readonly SettingField[];
  /** For the name of a channel, such as `#shop-ops`. */
  example: string;
}

const outside = (href: string, text: string) => html`<a href="${href}" rel="noreferrer">${text}</a>`;

const secretUrl = (start: string): SettingField => ({
  name: 'url',
  label: 'Webhook URL',
  hint: html`Begins with <code>${start}</code>. It is a secret: it is stored encrypted and never shown again.`,
  isSecret: true,
});

export const KIND_GUIDES: Record<ChannelKind, KindGuide> = {
  slack: {
    title: 'Slack',
    what: 'A message in a channel of your workspace',
    place: 'In Slack',
    steps: [
      html`Open ${outside('https://api.slack.com/apps', 'api.slack.com/apps')}, and create an app from scratch in your workspace. An app that you have will do.`,
      html`Choose <b>Incoming Webhooks</b>, and switch them on.`,
      html`Choose <b>Add New Webhook to Workspace</b>, and the Slack channel that gets the messages.`,
      html`Copy the <b>Webhook URL</b>.`,
    ],
    fields: [secretUrl('https://hooks.slack.com/services/')],
    example: '#shop-ops',
  },
  mattermost: {
    title: 'Mattermost',
    what: 'A message in a channel of your server',
    place: 'In Mattermost',
    steps: [
      html`Open <b>Integrations</b> in the product menu, then <b>Incoming Webhooks</b>. If it is missing, your administrator has to allow them.`,
      html`Choose <b>Add Incoming Webhook</b>, a title, and the channel that gets the messages.`,
      html`Save it, and copy the <b>URL</b>.`,
    ],
    fields: [secretUrl('https://your-server/hooks/')],
    example: '~town-square',
  },
  teams: {
    title: 'Microsoft Teams',
    what: 'A card in a channel or a chat of Teams',
    place: 'In Teams',
    steps: [
      html`Open the menu of the channel or the chat, and choose <b>Workflows</b>.`,
      html`Choose the template that posts when a <b>webhook request is received</b>.`,
      html`Say which team and channel get the messages, and create the workflow.`,
      html`Copy the <b>URL</b> that it shows.`,
    ],
    fields: [secretUrl('https://')],
    example: 'Operations team',
  },
  discord: {
    title: 'Discord',
    what: 'A message in a text channel of your server',
    place: 'In Discord',
    steps: [
      html`Open the settings of the text channel, then <b>Integrations</b> and <b>Webhooks</b>. It needs the permission to manage webhooks.`,
      html`Choose <b>New Webhook</b>, and a name for it.`,
      html`Choose <b>Copy Webhook URL</b>.`,
    ],
    fields: [secretUrl('https://discord.com/api/webhooks/')],
    example: '#status',
  },
  telegram: {
    title: 'Telegram',
    what: 'A message of your bot, to you or to a group',
    place: 'In Telegram',
    steps: [
      html`Write <code>/newbot</code> to ${outside('https://t.me/BotFather', '@BotFather')}, and follow it. It ends with the token of your bot.`,
      html`Write anything to your bot, or add it to the group or the channel that gets the messages. A bot cannot write first.`,
      html`Open <code>https://api.telegram.org/bot<i>TOKEN</i>/getUpdates</code>: the chat id is the <code>id</code> in <code>chat</code>. A public channel is named by its <code>@name</code> instead.`,
    ],
    fields: [
      {
        name: 'botToken',
        label: 'Token of the bot',
        hint: html`Such as <code>123456789:AAE…</code>. It is a secret: it is stored encrypted and never shown again.`,
        isSecret: true,
      },
      {
        name: 'chatId',
        label: 'Chat id',
        hint: html`A number, which begins with <code>-</code> for a group, or the <code>@name</code> of a channel.`,
      },
    ],
    example: 'My phone',
  },
  ntfy: {
    title: 'ntfy',
    what: 'A push message on your phone or desktop',
    place: 'In the ntfy app',
    steps: [
      html`Install ${outside('https://ntfy.sh', 'ntfy')} on the phone, or open it in the browser.`,
      html`Subscribe to a topic. On a public server anybody who knows its name can read it, so choose one that nobody guesses.`,
      html`If the server asks for a sign-in, create an access token in your account there.`,
    ],
    fields: [
      {
        name: 'url',
        label: 'Server',
        hint: html`<code>https://ntfy.sh</code>, or your own.`,
        type: 'url',
        start: 'https://ntfy.sh',
      },
      { name: 'topic', label: 'Topic', hint: html`Letters, digits, <code>-</code> and <code>_</code>.` },
      {
        name: 'token',
        label: 'Access token',
        hint: 'Only if the server asks for a sign-in. It is stored encrypted and never shown again.',
        isSecret: true,
        isOptional: true,
      },
    ],
    example: 'My phone',
  },
  apprise: {
    title: 'Apprise',
    what: 'Any of the services that your Apprise server knows',
    place: 'On your Apprise server',
    steps: [
      html`Run ${outside('https://github.com/caronc/apprise-api', 'Apprise API')} where this installation reaches it.`,
      html`Either store a configuration there, and note its <b>key</b>,`,
      html`or write the notification URLs of the services below, and keep nothing there.`,
    ],
    fields: [
      {
        name: 'url',
        label: 'Server',
        hint: html`Such as <code>https://apprise.example.com</code>, without <code>/notify</code>.`,
        type: 'url',
      },
      {
        name: 'key',
        label: 'Key of the configuration',
        hint: 'Letters, digits, - and _. It is stored encrypted and never shown again.',
        isSecret: true,
        isOptional: true,
      },
      {
        name: 'urls',
        label: 'Or notification URLs',
        hint: html`One a line, such as <code>gotify://host/token</code>; at most ten. They are stored encrypted and never shown again.`,
        isSecret: true,
        isOptional: true,
      },
    ],
    example: 'Everything at home',
  },
  email: {
    title: 'E-mail',
    what: 'A mail with the answer, or one digest an hour or a day',
    place: 'First a link',
    steps: [
      'Write the address below. It may be of somebody else, or of a list.',
      'A mail with a link goes there. Nothing else is sent before the link is opened.',
      'Each mail has a link that ends them, for everybody who gets it.',
    ],
    fields: [{ name: 'address', label: 'E-mail address', hint: 'It gets the link at once.', type: 'email' }],
    example: 'Team, once a day',
  },
};

export const KINDS = Object.keys(KIND_GUIDES) as ChannelKind[];

export const isKind = (text: string): text is ChannelKind => Object.hasOwn(KIND_GUIDES, text);
