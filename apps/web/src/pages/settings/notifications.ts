import type { ActionResult } from '@carillon/contract/actions/index';
import { readItemMessage } from '@carillon/contract/validation/unsafe-values';
import type { Texts } from '@carillon/texts';
import { renderChannelBoxes } from '../../components/channel-choices.ts';
import { type FormErrors, renderInput, renderTextarea } from '../../components/fields.ts';
import { EMPTY, type Html, html, raw } from '../../html.ts';
import { renderSettingForm, type Setting, type SettingProps } from './setting.ts';

const renderBox = ({ id, ticked }: SettingProps, name: string, saved: boolean, label: string): Html =>
  html`<label class="check" for="${id(name)}"><input id="${id(name)}" name="${name}" type="checkbox"${ticked(name, saved) && raw(' checked')}>${label}</label>`;

/** An error in a line of the list is shown with the line. */
const quoteLines = ({ fields, form }: FormErrors, lines: readonly string[], texts: Texts): FormErrors => ({
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, messages]) => [
      name,
      messages.map((text) => quoteLine(name, text, lines, texts)),
    ]),
  ),
  form,
});

function quoteLine(name: string, text: string, lines: readonly string[], { settings }: Texts): string {
  const item = readItemMessage(text);
  if (item === null) return text;
  if (name === 'channels') return settings.channelMissing;
  return `${lines[item.at] ?? item.at + 1} ${item.message}`;
}

const readLines = (text: string) =>
  text
    .split(/[\s,;]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const notifications: Setting = {
  name: 'notifications',
  title: ({ settings }) => settings.notifications,
  hint: ({ settings }) => settings.notificationsHint,
  render: (props) => {
    const { id, settings, text, context } = props;
    const texts = context.texts.settings;
    const lines = text('notificationEmails', settings.notificationEmails.join('\n'));
    const errors = quoteLines(props.errors, readLines(lines), context.texts);
    const { unconfirmedEmails, notificationPreferences, webhookUrl, webhookId } = settings;
    return renderSettingForm(
      { ...props, errors },
      'notifications',
      html`${renderBox(props, 'byEmail', notificationPreferences.email, texts.byEmail(settings.email))}
${renderTextarea({
  name: 'notificationEmails',
  id: id('notificationEmails'),
  label: texts.moreEmails,
  value: lines,
  rows: 3,
  hint: texts.moreEmailsHint,
  errors,
})}
${
  unconfirmedEmails.length > 0
    ? html`<p class="note">${texts.unconfirmedEmails(unconfirmedEmails.join(', '))}</p>`
    : EMPTY
}
${renderBox(props, 'byWebhook', notificationPreferences.webhook, texts.byWebhook)}
${renderInput({
  name: 'webhookUrl',
  id: id('webhookUrl'),
  label: texts.webhookUrl,
  type: 'url',
  value: text('webhookUrl', webhookUrl ?? ''),
  hint:
    webhookId === null
      ? texts.webhookHint
      : html`${texts.webhookHint} <a href="/webhooks/${webhookId}">${texts.webhookLink}</a>`,
  errors,
})}
${renderChannelBoxes({
  legend: texts.byChannel,
  channels: settings.channelChoices,
  chosen: props.chosen('channels', settings.channels),
  hint: html`${texts.channelsHint((text) => html`<a href="/channels">${text}</a>`)}`,
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
  done: ({ settings }) => settings.notificationsSaved,
};
