import { renderCurrentPassword, renderInput } from '../../components/fields.ts';
import { EMPTY, html } from '../../html.ts';
import { renderSettingForm, type Setting } from './setting.ts';

export const email: Setting = {
  name: 'email',
  title: ({ settings }) => settings.email,
  hint: ({ settings }) => settings.emailHint,
  render: (props) => {
    const { errors, id, settings, text, context, path } = props;
    const texts = context.texts.settings;
    const waiting = settings.pendingEmail;
    return html`${
      waiting === null
        ? EMPTY
        : html`<form class="notice warn" method="post" action="${path}#email">${context.csrfField}
<input type="hidden" name="setting" value="email"><input type="hidden" name="email" value="${settings.email}">
<p>${texts.emailPending(html`<b>${waiting}</b>`)}</p>
<div class="do"><button>${texts.cancelEmailChange}</button></div></form>`
    }${renderSettingForm(
      props,
      'email',
      html`<dl class="facts"><dt>${texts.currentEmail}</dt><dd>${settings.email}</dd></dl>
${renderInput({ name: 'email', id: id('email'), label: texts.newEmail, type: 'email', value: text('email', ''), autocomplete: 'email', required: true, errors })}
${
  settings.hasPassword
    ? renderCurrentPassword(context.texts, errors, { id: id('currentPassword') })
    : html`<p class="hint">${texts.approveEmailFirst}</p>`
}`,
      texts.changeEmail,
    )}`;
  },
  save: ({ actions, session }, form) => {
    const currentPassword = form.optional('currentPassword');
    const changes = { email: form.text('email').trim(), ...(currentPassword !== undefined && { currentPassword }) };
    return actions.changeProfile(session, changes);
  },
  done: ({ settings }) => settings.emailSaved,
};
