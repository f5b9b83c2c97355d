import { html, raw } from '../../html.ts';
import { readTheme, setTheme } from '../../http/cookies.ts';
import { renderSettingForm, type Setting } from './setting.ts';

const THEMES = ['system', 'light', 'dark'] as const;

export const theme: Setting = {
  name: 'theme',
  title: ({ settings }) => settings.theme,
  hint: ({ settings }) => settings.themeHint,
  render: (props) => {
    const { request, texts } = props.context;
    const current = readTheme(request) ?? 'system';
    return renderSettingForm(
      props,
      'theme',
      html`<fieldset><legend class="vh">${texts.settings.theme}</legend><div class="choice">${THEMES.map(
        (value) =>
          html`<label><input type="radio" name="theme" value="${value}"${value === current && raw(' checked')}>${texts.settings.themes[value]}</label>`,
      )}</div></fieldset>`,
    );
  },
  save: async ({ reply, dashboard }, form) => {
    const chosen = form.text('theme');
    setTheme(reply, dashboard, chosen === 'light' || chosen === 'dark' ? chosen : null);
    return { success: true, data: null };
  },
  done: ({ settings }) => settings.themeSaved,
};
