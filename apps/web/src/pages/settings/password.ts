import { renderCurrentPassword, renderInput } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { renderSettingForm, type Setting } from './setting.ts';

export const password: Setting = {
  name: 'password',
  title: ({ account }) => account.password,
  hint: ({ settings }) => settings.passwordHint,
  render: (props) => {
    const { errors, id, settings, context } = props;
    const { texts } = context;
    if (!settings.hasPassword) {
      return renderSettingForm(
        props,
        'first-password',
        html`<p>${texts.settings.noPassword}</p>`,
        texts.account.sendLink,
      );
    }
    return renderSettingForm(
      props,
      'password',
      html`<input type="text" name="username" value="${settings.email}" autocomplete="username" hidden>
${renderCurrentPassword(texts, errors, { id: id('currentPassword') })}
${renderInput({
  name: 'newPassword',
  id: id('newPassword'),
  label: texts.account.newPassword,
  type: 'password',
  autocomplete: 'new-password',
  required: true,
  hint: texts.account.passwordRules,
  errors,
})}`,
      texts.account.changePassword,
    );
  },
  save: ({ actions, session }, form) =>
    actions.changePassword(session, {
      currentPassword: form.text('currentPassword'),
      newPassword: form.text('newPassword'),
    }),
  done: ({ settings }) => settings.passwordSaved,
};

/** Not shown by itself: the form of an account without a password. */
export const firstPassword: Pick<Setting, 'name' | 'save' | 'done'> = {
  name: 'first-password',
  save: ({ actions, client, viewer }) => actions.requestReset(client, { email: viewer.email }),
  done: ({ settings }) => settings.passwordLinkSent,
};
