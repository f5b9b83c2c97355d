import type { ActionResult } from '@carillon/contract/actions/index';
import { readItemMessage } from '@carillon/contract/validation/unsafe-values';
import { renderChannelBoxes } from '../../components/channel-choices.ts';
import { type FormErrors, renderInput, renderTextarea } from '../../components/fields.ts';
import { EMPTY, type Html, html, raw } from '../../html.ts';
import { renderSettingForm, type Setting, type SettingProps } from './setting.ts';

const renderBox = ({ id, ticked }: SettingProps, name: string, saved: boolean, label: string): Html =>
  html`<label class="check" for="${id(name)}"><input id="${id(name)}" name="${name}" type="checkbox"${ticked(name, saved) && raw(' checked')}>${label}</label>`;

/** An error in a line of the list is shown with the line. */
const quoteLines = ({ fields, form }: FormErrors, lines: readonly string[]): FormErrors => ({
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, messages]) => [name, messages.map((text) => quoteLine(name, text, lines))]),
  ),
  form,
});

function quoteLine(name: string, text: string, lines: readonly string[]): string {
  const item = readItemMessage(text);
  if (item === null) return text;
  if (name === 'channels') return 'One of the channels does not exist any more: choose again';
  return `${lines[item.at] ?? item.at + 1} ${item.message}`;
}

const readLines = (text: string) =>
  text
    .split(/[\s,;]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const notifications: Setting = {
  name: 'notifications',
  title: () => 'Notifications',
  hint: () => 'Of runs that ended, and of alerts on usage. They are always in the list of notifications too.',
  render: (props) => {
    const { id, settings, text } = props;
    const lines = text('notificationEmails', settings.notificationEmails.join('\n'));
    const errors = quoteLines(props.errors, readLines(lines));
    const { unconfirmedEmails, notificationPreferences, webhookUrl, webhookId } = settings;
    return renderSettingForm(
      { ...props, errors },
      'notifications',
      html`${renderBox(props, 'byEmail', notificationPreferences.email, `By mail to ${settings.email}`)}
${renderTextarea({
  name: 'notificationEmails',
  id: id('notificationEmails'),
  label: 'Also to these addresses',
  value: lines,
  rows: 3,
  hint: 'One a line, at most 10. Each gets a link first, and nothing else before that is opened.',
  errors,
})}
${
  unconfirmedEmails.length > 0
    ? html`<p class="note">Not confirmed yet: ${unconfirmedEmails.join(', ')}. Saving mails another link once the last one is an hour old.</p>`
    : EMPTY
}
${renderBox(props, 'byWebhook', notificationPreferences.webhook, 'By webhook')}
${renderInput({
  name: 'webhookUrl',
  id: id('webhookUrl'),
  label: 'Address of the webhook',
  type: 'url',
  value: text('webhookUrl', webhookUrl ?? ''),
  hint:
    webhookId === null
      ? 'Empty for none.'
      : html`Empty for none. <a href="/webhooks/${webhookId}">Its secret and deliveries</a>`,
  errors,
})}
${renderChannelBoxes({
  legend: 'By channel',
  channels: settings.channelChoices,
  chosen: props.chosen('channels', settings.channels),
  hint: html`For what concerns the whole account. A task names its own channels. <a href="/channels">Channels</a>`,
  errors,
  texts: props.context.texts,
})}`,
    );
  },
  save: ({ actions, session }, form): Promise<ActionResult<unknown>> =>
    actions.changeSettings(session, {
      notificationPreferences: { email: form.has('byEmail'), webhook: form.has('byWebhook') },
      notificationEmails: readLines(form.text('notificationEmails')),
      webhookUrl: form.text('webhookUrl').trim() || null,
      channels: form.list('channels'),
    }),
  done: () => 'The notifications are saved.',
};
