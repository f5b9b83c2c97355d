import { renderInput } from '../../components/fields.ts';
import { EMPTY, html } from '../../html.ts';
import type { Form } from '../../http/forms.ts';
import { renderSettingForm, type Setting } from './setting.ts';

const isRemoved = (form: Form) => form.text('change') === 'remove';

export const aiKey: Setting = {
  name: 'ai-key',
  title: ({ settings }) => settings.aiKey,
  hint: ({ settings }) => settings.aiKeyHint,
  render: (props) => {
    const { errors, id, settings, context } = props;
    const texts = context.texts.settings;
    const hasKey = settings.hasModelRouterApiKey;
    return renderSettingForm(
      props,
      'ai-key',
      html`<p>${hasKey ? texts.ownKey : texts.sharedKey}</p>
${renderInput({
  name: 'modelRouterApiKey',
  id: id('modelRouterApiKey'),
  label: hasKey ? texts.newKey : texts.key,
  type: 'password',
  autocomplete: 'off',
  errors,
})}`,
      html`<button name="change" value="save">${texts.saveKey}</button>${
        hasKey ? html`<button class="danger" name="change" value="remove">${texts.removeKey}</button>` : EMPTY
      }`,
    );
  },
  save: async ({ actions, session, texts }, form) => {
    const key = form.text('modelRouterApiKey').trim();
    if (!isRemoved(form) && key === '') {
      const details = { modelRouterApiKey: [texts.settings.keyRequired] };
      return { success: false, error: 'Validation error', details };
    }
    return actions.changeSettings(session, { modelRouterApiKey: isRemoved(form) ? null : key });
  },
  done: ({ settings }, form) => (isRemoved(form) ? settings.aiKeyRemoved : settings.aiKeySaved),
};
