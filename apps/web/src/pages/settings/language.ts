import { LANGUAGE_NAMES, LANGUAGES, type Language } from '@carillon/texts';
import { renderSelect } from '../../components/fields.ts';
import { renderSettingForm, type Setting } from './setting.ts';

const OPTIONS = LANGUAGES.map((value) => ({ value, text: LANGUAGE_NAMES[value] }));

export const language: Setting = {
  name: 'language',
  title: ({ settings }) => settings.language,
  hint: ({ settings }) => settings.languageHint,
  render: (props) => {
    const { errors, id, text, settings, context } = props;
    const { texts } = context;
    const field = { name: 'language', id: id('language'), label: texts.settings.language, options: OPTIONS, errors };
    return renderSettingForm(props, 'language', renderSelect({ ...field, value: text('language', settings.language) }));
  },
  save: ({ actions, session }, form) =>
    actions.changeSettings(session, { language: form.text('language') as Language }),
  done: ({ settings }) => settings.languageSaved,
};
