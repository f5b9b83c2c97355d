import { type Marks, type Parts, parts } from '../parts.ts';
import type { channels } from './channels.ts';

interface Guide {
  /** For the choice of a kind: where messages arrive. */
  summary: string;
  /** Above the steps. */
  place: string;
  steps<P>(marks: Marks<P>): readonly Parts<P>[];
  /** A name of a channel. */
  example: string;
}

interface Field {
  label: string;
  /** `prefix`: what the value begins with. */
  hint<P>(code: (text: string) => P, prefix: string): Parts<P>;
}

type FieldName =
  | 'webhookUrl'
  | 'botToken'
  | 'chatId'
  | 'ntfyServer'
  | 'topic'
  | 'accessToken'
  | 'appriseServer'
  | 'key'
  | 'urls'
  | 'address';

const kinds: Record<keyof typeof channels.kinds, Guide> = {
  slack: {
    summary: 'A message in a channel of your workspace',
    place: 'In Slack',
    steps: ({ link, strong }) => [
      parts`Open ${link('api.slack.com/apps')} and create an app from scratch. You can use an existing app.`,
      parts`Open ${strong('Incoming Webhooks')} and switch them on.`,
      parts`Choose ${strong('Add New Webhook to Workspace')}, then the channel for the messages.`,
      parts`Copy the ${strong('Webhook URL')}.`,
    ],
    example: '#shop-ops',
  },
  mattermost: {
    summary: 'A message in a channel of your server',
    place: 'In Mattermost',
    steps: ({ strong }) => [
      parts`Open ${strong('Integrations')} in the product menu, then ${strong('Incoming Webhooks')}. If it is missing, ask your administrator to allow them.`,
      parts`Choose ${strong('Add Incoming Webhook')}, a title and the channel for the messages.`,
      parts`Save it and copy the ${strong('URL')}.`,
    ],
    example: '~town-square',
  },
  teams: {
    summary: 'A card in a channel or a chat of Teams',
    place: 'In Teams',
    steps: ({ strong }) => [
      parts`Open the menu of the channel or the chat and choose ${strong('Workflows')}.`,
      parts`Choose the template that posts when a ${strong('webhook request is received')}.`,
      parts`Choose the team and the channel for the messages, and create the workflow.`,
      parts`Copy the ${strong('URL')}.`,
    ],
    example: 'Operations team',
  },
  discord: {
    summary: 'A message in a text channel of your server',
    place: 'In Discord',
    steps: ({ strong }) => [
      parts`Open the settings of the text channel, then ${strong('Integrations')} and ${strong('Webhooks')}. You need the permission to manage webhooks.`,
      parts`Choose ${strong('New Webhook')} and enter a name.`,
      parts`Choose ${strong('Copy Webhook URL')}.`,
    ],
    example: '#status',
  },
  telegram: {
    summary: 'A message from your bot, to you or to a group',
    place: 'In Telegram',
    steps: ({ link, code }) => [
      parts`Send ${code('/newbot')} to ${link('@BotFather')} and follow its questions. At the end you get the token of your bot.`,
      parts`Send any message to your bot, or add it to the group or the channel. A bot cannot write first.`,
      parts`Open ${code('https://api.telegram.org/bot<TOKEN>/getUpdates')}. The chat ID is the ${code('id')} in ${code('chat')}. For a public channel, use its ${code('@name')} instead.`,
    ],
    example: 'My phone',
  },
  ntfy: {
    summary: 'A push message on your phone or desktop',
    place: 'In the ntfy app',
    steps: ({ link }) => [
      parts`Install ${link('ntfy')} on the phone, or open it in the browser.`,
      parts`Subscribe to a topic. On a public server anyone who knows its name can read it: choose one that is hard to guess.`,
      parts`If the server requires a sign-in, create an access token in your account there.`,
    ],
    example: 'My phone',
  },
  apprise: {
    summary: 'Any service that your Apprise server supports',
    place: 'On your Apprise server',
    steps: ({ link, strong }) => [
      parts`Run ${link('Apprise API')} where Carillon can reach it.`,
      parts`Store a configuration there and copy its ${strong('key')},`,
      parts`or enter the notification URLs of the services below and store nothing there.`,
    ],
    example: 'Everything at home',
  },
  email: {
    summary: 'An e-mail per answer, or an hourly or daily digest',
    place: 'First a link',
    steps: () => [
      parts`Enter an address below. It can be a mailing list or the address of someone else.`,
      parts`We send a confirmation link to it. Nothing else is sent until the link is opened.`,
      parts`Each e-mail has a link to unsubscribe the address.`,
    ],
    example: 'Team, once a day',
  },
};

const fields: Record<FieldName, Field> = {
  webhookUrl: {
    label: 'Webhook URL',
    hint: (code, prefix) => parts`Begins with ${code(prefix)}. It is a secret: stored encrypted and never shown again.`,
  },
  botToken: {
    label: 'Bot token',
    hint: (code) =>
      parts`For example ${code('123456789:AAE…')}. It is a secret: stored encrypted and never shown again.`,
  },
  chatId: {
    label: 'Chat ID',
    hint: (code) => parts`A number, which begins with ${code('-')} for a group, or the ${code('@name')} of a channel.`,
  },
  ntfyServer: { label: 'Server', hint: (code) => parts`${code('https://ntfy.sh')} or your server.` },
  topic: { label: 'Topic', hint: (code) => parts`Letters, digits, ${code('-')} and ${code('_')}.` },
  accessToken: {
    label: 'Access token',
    hint: () => parts`Only if the server requires a sign-in. It is stored encrypted and never shown again.`,
  },
  appriseServer: {
    label: 'Server',
    hint: (code) => parts`For example ${code('https://apprise.example.com')}, without ${code('/notify')}.`,
  },
  key: {
    label: 'Configuration key',
    hint: (code) =>
      parts`Letters, digits, ${code('-')} and ${code('_')}. It is stored encrypted and never shown again.`,
  },
  urls: {
    label: 'Or notification URLs',
    hint: (code) =>
      parts`One per line, up to 10, for example ${code('gotify://host/token')}. They are stored encrypted and never shown again.`,
  },
  address: { label: 'E-mail address', hint: () => parts`It gets the confirmation link immediately.` },
};

/** The steps in other programs, and the fields for what they give. */
export const channelGuides = { kinds, fields };
