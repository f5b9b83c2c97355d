import { renderInput } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { renderSettingForm, type Setting } from './setting.ts';

export const password: Setting = {
  name: 'password',
  title: () => 'Password',
  hint: () => 'A new password ends all other sessions. API keys keep working.',
  render: (shown) => {
    const { errors, id, settings } = shown;
    if (!settings.hasPassword) {
      return renderSettingForm(
        shown,
        'first-password',
        html`<p>This account signs in with a provider and has no password. A link by mail lets you choose one.</p>`,
        'Send the link',
      );
    }
    return renderSettingForm(
      shown,
      'password',
      html`<input type="text" name="username" value="${settings.email}" autocomplete="username" hidden>
${renderInput({
  name: 'currentPassword',
  id: id('currentPassword'),
  label: 'Your password now',
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  errors,
})}
${renderInput({
  name: 'newPassword',
  id: id('newPassword'),
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  required: true,
  hint: shown.context.texts.account.passwordRules,
  errors,
})}`,
      'Change password',
    );
  },
  save: ({ actions, session }, form) =>
    actions.changePassword(session, {
      currentPassword: form.text('currentPassword'),
      newPassword: form.text('newPassword'),
    }),
  done: () => 'Your password is changed, and all other sessions are ended.',
};

/** Not shown by itself: the form of an account without a password. */
export const firstPassword: Pick<Setting, 'name' | 'save' | 'done'> = {
  name: 'first-password',
  save: ({ actions, client, viewer }) => actions.requestReset(client, { email: viewer.email }),
  done: () => 'A link to choose a password is on its way to your address.',
};
