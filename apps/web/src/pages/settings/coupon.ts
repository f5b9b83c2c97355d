import { renderInput } from '../../components/fields.ts';
import { renderMomentOn } from '../../components/times.ts';
import { html } from '../../html.ts';
import { renderSettingForm, type Setting } from './setting.ts';

export const coupon: Setting = {
  name: 'coupon',
  title: () => 'Coupon',
  hint: () => 'A code makes your trial longer.',
  render: (props) => {
    const { errors, id, settings, text, context } = props;
    const end = settings.trialEndsAt;
    return renderSettingForm(
      props,
      'coupon',
      html`<dl class="facts"><dt>Trial</dt><dd>${
        end === null ? 'none' : html`${new Date(end) > context.now ? 'ends' : 'ended'} ${renderMomentOn(end, context)}`
      }</dd></dl>
${renderInput({ name: 'code', id: id('code'), label: 'Code', value: text('code', ''), autocomplete: 'off', required: true, errors })}`,
      'Use coupon',
    );
  },
  save: ({ actions, session }, form) => actions.activateCoupon(session, { code: form.text('code').trim() }),
  done: () => 'The coupon is used: your trial is longer.',
};
