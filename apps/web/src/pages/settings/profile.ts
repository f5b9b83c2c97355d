import { renderInput } from '../../components/fields.ts';
import { renderTimeZoneField } from '../../components/time-zones.ts';
import { html } from '../../html.ts';
import { renderSettingForm, type Setting } from './setting.ts';

export const profile: Setting = {
  name: 'profile',
  title: ({ settings }) => settings.profile,
  hint: ({ settings }) => settings.profileHint,
  render: (props) => {
    const { errors, id, text, context } = props;
    const { name, timezone } = context.viewer;
    return renderSettingForm(
      props,
      'profile',
      html`${renderInput({ name: 'name', id: id('name'), label: context.texts.account.name, value: text('name', name), autocomplete: 'name', required: true, errors })}
${renderTimeZoneField({ value: text('timezone', timezone ?? '') || null, errors, texts: context.texts })}`,
    );
  },
  save: ({ actions, session }, form) =>
    actions.changeProfile(session, { name: form.text('name').trim(), timezone: form.text('timezone') }),
  done: ({ settings }) => settings.profileSaved,
};
