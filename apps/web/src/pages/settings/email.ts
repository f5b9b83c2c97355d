import { renderInput } from '../../components/fields.ts';
import { EMPTY, html } from '../../html.ts';
import { renderSettingForm, type Setting } from './setting.ts';

export const email: Setting = {
  name: 'email',
  title: () => 'E-mail address',
  hint: () => 'You sign in with it. It changes once the link in a mail to the new address is opened.',
  render: (props) => {
    const { errors, id, settings, text, context } = props;
    const waiting = settings.pendingEmail;
    return html`${
      waiting === null
        ? EMPTY
        : html`<form class="notice warn" method="post" action="/settings#email">${context.csrfField}
<input type="hidden" name="setting" value="email"><input type="hidden" name="email" value="${settings.email}">
<p>The change to <b>${waiting}</b> waits until its link is opened, for an hour at most.</p>
<div class="do"><button>Cancel this change</button></div></form>`
    }${renderSettingForm(
      props,
      'email',
      html`<dl class="facts"><dt>Address now</dt><dd>${settings.email}</dd></dl>
${renderInput({ name: 'email', id: id('email'), label: 'New address', type: 'email', value: text('email', ''), autocomplete: 'email', required: true, errors })}
${
  settings.hasPassword
    ? renderInput({
        name: 'currentPassword',
        id: id('currentPassword'),
        label: 'Your password',
        type: 'password',
        autocomplete: 'current-password',
        required: true,
        errors,
      })
    : html`<p class="hint">A link at your present address has to approve the change first.</p>`
}`,
      'Change address',
    )}`;
  },
  save: ({ actions, session }, form) => {
    const currentPassword = form.optional('currentPassword');
    const changes = { email: form.text('email').trim(), ...(currentPassword !== undefined && { currentPassword }) };
    return actions.changeProfile(session, changes);
  },
  done: () => 'Your request is saved. Where the address changes, a link is on its way.',
};
