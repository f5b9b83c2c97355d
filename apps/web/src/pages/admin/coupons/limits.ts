import { type FormErrors, renderInput } from '../../../components/fields.ts';
import { parseLocalTime } from '../../../components/schedule/local-time.ts';
import { type Html, html } from '../../../html.ts';
import type { Form } from '../../../http/forms.ts';
import type { UserPageContext } from '../../../page.ts';
import { toNumber } from '../requests.ts';

export const COUPON_LIMITS = ['maxUses', 'expiresAt'] as const;
export type CouponLimits = Record<(typeof COUPON_LIMITS)[number], string>;

export const readLimits = (form: Form): CouponLimits => ({
  maxUses: form.text('maxUses').trim(),
  expiresAt: form.text('expiresAt').trim(),
});

/** What the fields mean: empty ones are no limit. */
export function toLimits({ maxUses, expiresAt }: CouponLimits, { timeZone, texts }: UserPageContext) {
  const expiry = expiresAt === '' ? null : parseLocalTime(expiresAt, timeZone);
  const isInvalid = expiresAt !== '' && expiry === null;
  const errors: FormErrors | null = isInvalid ? { fields: { expiresAt: [texts.admin.notATime] }, form: null } : null;
  const limits = { maxUses: maxUses === '' ? null : toNumber(maxUses), expiresAt: expiry?.toISOString() ?? null };
  return { limits, errors };
}

export const renderLimits = (values: CouponLimits, errors: FormErrors, { timeZone, texts }: UserPageContext): Html =>
  html`${renderInput({
    name: 'maxUses',
    label: texts.coupons.maxUses,
    type: 'number',
    value: values.maxUses,
    errors,
    attributes: html`min="1"`,
    hint: texts.coupons.maxUsesHint,
  })}
${renderInput({
  name: 'expiresAt',
  label: texts.coupons.expiry,
  type: 'datetime-local',
  value: values.expiresAt,
  errors,
  hint: texts.coupons.expiryHint(texts.admin.localTime(timeZone)),
})}`;
