import { renderInput } from '../../components/fields.ts';
import { renderMomentOn } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { renderSettingForm, type Setting } from './setting.ts';

/** When a trial ends, or ended. */
export function describeTrialEnd(end: string | null, context: UserPageContext): Html {
  const { settings } = context.texts;
  if (end === null) return html`${settings.trialWithoutEnd}`;
  const moment = renderMomentOn(end, context);
  return html`${new Date(end) > context.now ? settings.trialEnds(moment) : settings.trialEnded(moment)}`;
}

export const coupon: Setting = {
  name: 'coupon',
  title: ({ settings }) => settings.coupon,
  hint: ({ settings }) => settings.couponHint,
  // Nobody who installed it for himself reads of a trial, unless it has ended.
  isOffered: ({ hasTrials, trialEndsAt }, { viewer, now }) =>
    hasTrials || (viewer.role !== 'ADMIN' && trialEndsAt !== null && new Date(trialEndsAt) <= now),
  render: (props) => {
    const { errors, id, settings, text, context } = props;
    const texts = context.texts.settings;
    return renderSettingForm(
      props,
      'coupon',
      html`<dl class="facts"><dt>${texts.trial}</dt><dd>${describeTrialEnd(settings.trialEndsAt, context)}</dd></dl>
${renderInput({ name: 'code', id: id('code'), label: texts.code, value: text('code', ''), autocomplete: 'off', required: true, errors })}`,
      texts.useCoupon,
    );
  },
  save: ({ actions, session }, form) => actions.activateCoupon(session, { code: form.text('code').trim() }),
  done: ({ settings }) => settings.couponUsed,
};
