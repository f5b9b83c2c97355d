import { type FormErrors, renderInput } from '../../../components/fields.ts';
import { type Html, html } from '../../../html.ts';
import type { Form } from '../../../http/forms.ts';
import { parseLocalTime } from '../local-time.ts';
import { toNumber } from '../requests.ts';

export const COUPON_LIMITS = ['maxUses', 'expiresAt'] as const;
export type CouponLimits = Record<(typeof COUPON_LIMITS)[number], string>;

export const readLimits = (form: Form): CouponLimits => ({
  maxUses: form.text('maxUses').trim(),
  expiresAt: form.text('expiresAt').trim(),
});

/** What the fields mean: empty ones are no limit. */
export function toLimits({ maxUses, expiresAt }: CouponLimits, timeZone: string) {
  const expiry = expiresAt === '' ? null : parseLocalTime(expiresAt, timeZone);
  const isInvalid = expiresAt !== '' && expiry === null;
  const errors: FormErrors | null = isInvalid
    ? { fields: { expiresAt: ['is not a date and time'] }, form: null }
    : null;
  const limits = { maxUses: maxUses === '' ? null : toNumber(maxUses), expiresAt: expiry?.toISOString() ?? null };
  return { limits, errors };
}

export const renderLimits = (values: CouponLimits, errors: FormErrors, timeZone: string): Html =>
  html`${renderInput({
    name: 'maxUses',
    label: 'Uses, at most (optional)',
    type: 'number',
    value: values.maxUses,
    errors,
    attributes: html`min="1"`,
    hint: 'Empty for no limit.',
  })}
${renderInput({
  name: 'expiresAt',
  label: 'Expires (optional)',
  type: 'datetime-local',
  value: values.expiresAt,
  errors,
  hint: `In ${timeZone}. Empty for never.`,
})}`;
