import type { ActionError } from '@carillon/contract/actions/index';
import { renderInput } from '../../components/fields.ts';
import { EMPTY, html } from '../../html.ts';
import { renderSettingForm, type Setting } from './setting.ts';

const REQUIRED: ActionError = {
  success: false,
  error: 'Validation error',
  details: { modelRouterApiKey: ['is required'] },
};

export const aiKey: Setting = {
  name: 'ai-key',
  title: () => 'Your key for the AI provider',
  hint: () =>
    'With a key of your own, your tasks run on your account with the provider. It is stored encrypted and never shown.',
  render: (shown) => {
    const { errors, id, settings } = shown;
    const hasKey = settings.hasModelRouterApiKey;
    return renderSettingForm(
      shown,
      'ai-key',
      html`<p>${hasKey ? 'Your tasks run with your own key.' : 'Your tasks run with the key of this installation.'}</p>
${renderInput({
  name: 'modelRouterApiKey',
  id: id('modelRouterApiKey'),
  label: hasKey ? 'Another key' : 'Key',
  type: 'password',
  autocomplete: 'off',
  errors,
})}`,
      html`<button name="change" value="save">Save key</button>${
        hasKey ? html`<button class="danger" name="change" value="remove">Remove your key</button>` : EMPTY
      }`,
    );
  },
  save: async ({ actions, session }, form) => {
    const isRemoved = form.text('change') === 'remove';
    const key = form.text('modelRouterApiKey').trim();
    if (!isRemoved && key === '') return REQUIRED;
    return actions.changeSettings(session, { modelRouterApiKey: isRemoved ? null : key });
  },
  done: () => 'The key is saved. Runs use it from now on.',
};
