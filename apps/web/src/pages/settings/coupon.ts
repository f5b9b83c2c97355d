import { renderInput } from '../../components/fields.ts';
import { renderMoment } from '../../components/times.ts';
import { html } from '../../html.ts';
import { renderSettingForm, type Setting } from './setting.ts';

export const coupon: Setting = {
  name: 'coupon',
  title: 'Coupon',
  hint: 'A code makes your trial longer.',
  render: (shown) => {
    const { errors, id, settings, typed, visit } = shown;
    const end = settings.trialEndsAt;
    return renderSettingForm(
      shown,
      'coupon',
      html`<dl class="facts"><dt>Trial</dt><dd>${
        end === null ? 'none' : html`${new Date(end) > visit.now ? 'ends' : 'ended'} ${renderMoment(end, visit)}`
      }</dd></dl>
${renderInput({ name: 'code', id: id('code'), label: 'Code', value: typed('code', ''), autocomplete: 'off', required: true, errors })}`,
      'Use coupon',
    );
  },
  save: ({ actions, session }, form) => actions.activateCoupon(session, { code: form.text('code').trim() }),
  done: 'The coupon is used: your trial is longer.',
};
