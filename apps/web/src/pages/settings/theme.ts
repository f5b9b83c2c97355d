import { html, raw } from '../../html.ts';
import { readTheme, setTheme } from '../../http/cookies.ts';
import { renderSettingForm, type Setting } from './setting.ts';

const THEMES = [
  { value: 'system', text: 'System' },
  { value: 'light', text: 'Light' },
  { value: 'dark', text: 'Dark' },
];

export const theme: Setting = {
  name: 'theme',
  title: () => 'Theme',
  hint: () => 'For this browser.',
  render: (shown) => {
    const current = readTheme(shown.context.request) ?? 'system';
    return renderSettingForm(
      shown,
      'theme',
      html`<fieldset><legend class="vh">Theme</legend><div class="choice">${THEMES.map(
        ({ value, text }) =>
          html`<label><input type="radio" name="theme" value="${value}"${value === current && raw(' checked')}>${text}</label>`,
      )}</div></fieldset>`,
    );
  },
  save: async ({ reply, dashboard }, form) => {
    const chosen = form.text('theme');
    setTheme(reply, dashboard, chosen === 'light' || chosen === 'dark' ? chosen : null);
    return { success: true, data: null };
  },
  done: () => 'The theme is saved.',
};
