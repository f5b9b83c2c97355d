import { renderInput } from '../../components/fields.ts';
import { renderTimeZoneField } from '../../components/time-zones.ts';
import { html } from '../../html.ts';
import { renderSettingForm, type Setting } from './setting.ts';

export const profile: Setting = {
  name: 'profile',
  title: 'Profile',
  hint: 'All times are shown in your time zone, and new tasks run in it.',
  render: (shown) => {
    const { errors, id, typed, visit } = shown;
    const { name, timezone } = visit.viewer;
    return renderSettingForm(
      shown,
      'profile',
      html`${renderInput({ name: 'name', id: id('name'), label: 'Name', value: typed('name', name), autocomplete: 'name', required: true, errors })}
${renderTimeZoneField({ value: typed('timezone', timezone ?? '') || null, errors })}`,
    );
  },
  save: ({ actions, session }, form) =>
    actions.changeProfile(session, { name: form.text('name').trim(), timezone: form.text('timezone') }),
  done: 'Your profile is saved.',
};
