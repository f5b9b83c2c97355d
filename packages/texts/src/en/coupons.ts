import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

/** Coupons, as administrators see them. */
export const coupons = {
  title: 'Coupons',
  subtitle: 'A coupon extends the trial of an account.',
  newCoupon: 'New coupon',
  coupons: 'Coupons',
  active: (coupons: number) => `${number(coupons)} switched on`,
  allUses: 'Uses',
  allUsesText: 'by all accounts',
  none: 'No coupons yet. Create one to extend trials.',
  createFirst: 'Create the first coupon',
  states: { off: 'Switched off', expired: 'Expired', used: 'Used up', valid: 'Valid' },
  caption: 'Coupons, newest first',
  code: 'Code',
  state: 'Status',
  trial: 'Trial',
  uses: 'Uses',
  expires: 'Expires',
  createdBy: (email: string) => `by ${email}`,
  extraDays: (days: number) => `+${count(days, 'day', 'days')}`,
  usesOf: (uses: number, max: number) => `${number(uses)} of ${number(max)}`,
  never: 'Never',

  newText: 'An account can use each coupon once.',
  codeLabel: 'Code (optional)',
  codeHint: '4 to 40 letters, digits, “-” and “_”. Leave empty for a random code.',
  days: 'Extra trial days (optional)',
  daysHint: 'Leave empty for the trial length of new accounts.',
  maxUses: 'Max. uses (optional)',
  maxUsesHint: 'Leave empty for no limit.',
  expiry: 'Expires (optional)',
  expiryHint: (localTime: string) => `${localTime} Leave empty for never.`,
  create: 'Create coupon',
  created: (code: string) => `Coupon ${code} is created.`,

  createdAt: 'Created',
  createdAtBy: <P>(moment: P, email: string) => parts<P | string>`${moment} by ${email}`,
  changedAt: 'Changed',
  change: 'Edit coupon',
  on: 'Switched on',
  saved: 'The coupon is saved.',
  usesHint: 'without deleted accounts',
  noUses: 'No uses yet. Accounts that use the coupon appear here.',
  usesCaption: 'Uses, newest first',
  user: 'User',
  usedAt: 'Used',

  deleteTitle: 'Delete coupon',
  deleteText: <P>(code: P, uses: number) =>
    parts<
      P | string
    >`The code ${code} stops working, and its list of ${count(uses, 'use', 'uses')} is deleted. Extended trials stay extended.`,
  deleted: 'The coupon is deleted.',
};
