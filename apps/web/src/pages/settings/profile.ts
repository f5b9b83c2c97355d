import { LANGUAGE_NAMES, LANGUAGES, type Language } from '@carillon/texts';
import { renderChoice } from '../../components/choices.ts';
import { renderInput, renderSelect } from '../../components/fields.ts';
import { renderTimeZoneField } from '../../components/time-zones.ts';
import { html } from '../../html.ts';
import { readTheme, setTheme } from '../../http/cookies.ts';
import { renderSettingForm, type Setting } from './setting.ts';

const LANGUAGE_OPTIONS = LANGUAGES.map((value) => ({ value, text: LANGUAGE_NAMES[value] }));
const THEMES = ['system', 'light', 'dark'] as const;

export const profile: Setting = {
  name: 'profile',
  title: ({ settings }) => settings.profile,
  hint: ({ settings }) => settings.profileHint,
  render: (props) => {
    const { errors, id, text, settings, context } = props;
    const { texts, viewer, request } = context;
    const theme = text('theme', readTheme(request) ?? 'system');
    return renderSettingForm(
      props,
      'profile',
      html`${renderInput({ name: 'name', id: id('name'), label: texts.account.name, value: text('name', viewer.name), autocomplete: 'name', required: true, errors })}
${renderTimeZoneField({ value: text('timezone', viewer.timezone ?? '') || null, errors, texts })}
${renderSelect({ name: 'language', id: id('language'), label: texts.settings.language, options: LANGUAGE_OPTIONS, value: text('language', settings.language), hint: texts.settings.languageHint, errors })}
<div>${renderChoice({ name: 'theme', legend: texts.settings.theme, choices: THEMES.map((value) => ({ value, text: texts.settings.themes[value] })), value: theme })}<p class="hint">${texts.settings.themeHint}</p></div>`,
    );
  },
  save: async ({ actions, session, reply, dashboard }, form) => {
    const theme = form.text('theme');
    const result = await actions.changeProfile(session, {
      name: form.text('name').trim(),
      timezone: form.text('timezone'),
      language: form.text('language') as Language,
    });
    if (result.success) setTheme(reply, dashboard, theme === 'light' || theme === 'dark' ? theme : null);
    return result;
  },
  done: ({ settings }) => settings.profileSaved,
};
