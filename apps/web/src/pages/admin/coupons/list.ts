import type { WebActionData } from '../../../actions.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../../components/fields.ts';
import { countWords, formatCount } from '../../../components/format.ts';
import { renderOutcome } from '../../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { renderMoment } from '../../../components/times.ts';
import { type Html, html } from '../../../html.ts';
import { readForm, readQuery } from '../../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../../page.ts';
import { readOffset, renderOffsetPager } from '../offset-pager.ts';
import { askToConfirm, needsConfirmation, readFormValues, renderKept, toNumber } from '../requests.ts';
import { renderSections } from '../sections.ts';
import { COUPON_LIMITS, type CouponLimits, readLimits, renderLimits, toLimits } from './limits.ts';

const PAGE_SIZE = 50;

type Coupon = WebActionData<'listCoupons'>['coupons'][number];

export async function showCoupons(context: UserPageContext): Promise<Page> {
  const offset = readOffset(readQuery(context.request));
  const { coupons, stats, pagination } = unwrap(
    await context.actions.listCoupons(context.session, { limit: PAGE_SIZE, offset }),
  );
  return {
    title: 'Coupons',
    subtitle: 'A coupon makes the trial of an account longer.',
    aside: html`<a class="button primary" href="/admin/coupons/new">New coupon</a>`,
    body: html`${renderSections('/admin/coupons')}
<dl class="figures">
<div><dt>Coupons</dt><dd>${formatCount(stats.totalCoupons)}</dd><dd>${formatCount(stats.activeCoupons)} switched on</dd></div>
<div><dt>Uses, in all</dt><dd>${formatCount(stats.totalUses)}</dd><dd>by any account</dd></div>
</dl>
${
  coupons.length === 0
    ? html`<div class="rows empty"><p>Coupons will stand here, with how often each was used.</p><p><a class="button" href="/admin/coupons/new">Create the first coupon</a></p></div>`
    : html`<div>${renderCoupons(coupons, context)}${renderOffsetPager('/admin/coupons', {}, pagination)}</div>`
}`,
  };
}

/** Whether it can be used, and if not, why. */
export function renderCouponState({ isActive, expiresAt, maxUses, usedCount }: Coupon, now: Date): Html {
  if (!isActive) return renderOutcome('paused', 'Switched off');
  if (expiresAt !== null && new Date(expiresAt) <= now) return renderOutcome('skipped', 'Expired');
  if (maxUses !== null && usedCount >= maxUses) return renderOutcome('skipped', 'Used up');
  return renderOutcome('ran', 'Can be used');
}

const renderCoupons = (coupons: readonly Coupon[], context: UserPageContext): Html =>
  renderTable(
    'Coupons, newest first',
    [
      { head: 'Code' },
      { head: 'State' },
      { head: 'Trial', class: 'num' },
      { head: 'Uses', class: 'num' },
      { head: 'Expires', class: 'num' },
    ],
    coupons.map((coupon) =>
      renderRow(
        renderRowHead(
          html`<a href="/admin/coupons/${coupon.id}">${coupon.code}</a><span class="sub">by ${coupon.createdByEmail}</span>`,
        ),
        renderCell(renderCouponState(coupon, context.now)),
        renderCell(`+${countWords(coupon.value, 'day')}`, { class: 'num start', label: 'Trial' }),
        renderCell(
          coupon.maxUses === null
            ? formatCount(coupon.usedCount)
            : `${formatCount(coupon.usedCount)} of ${formatCount(coupon.maxUses)}`,
          { class: 'num', label: 'Uses' },
        ),
        renderCell(coupon.expiresAt === null ? 'Never' : renderMoment(coupon.expiresAt, context), {
          class: 'num start',
          label: 'Expires',
        }),
      ),
    ),
  );

const FIELDS = ['code', 'value', ...COUPON_LIMITS] as const;
type FormValues = CouponLimits & { code: string; value: string };
const NOTHING: FormValues = { code: '', value: '', maxUses: '', expiresAt: '' };

export function showNewCoupon(context: UserPageContext): Page {
  const values = readFormValues(context, FIELDS);
  return renderNew(context, values ?? NOTHING, NO_ERRORS, values !== null);
}

export async function createCoupon(context: UserPageContext): Promise<Page | Redirect> {
  const form = readForm(context.request);
  const values: FormValues = { code: form.text('code').trim(), value: form.text('value').trim(), ...readLimits(form) };
  const { limits, errors } = toLimits(values, context.timeZone);
  if (errors) return { ...renderNew(context, values, errors), status: 422 };
  const result = await context.actions.createCoupon(context.session, {
    ...(values.code !== '' && { code: values.code }),
    ...(values.value !== '' && { value: toNumber(values.value) }),
    ...limits,
  });
  if (needsConfirmation(result)) return askToConfirm(context, '/admin/coupons/new', { ...values });
  if (result.success) return redirect(`/admin/coupons/${result.data.id}`, `Coupon ${result.data.code} is created.`);
  return { ...renderNew(context, values, toFormErrors(result, context.texts)), status: toStatus(result) };
}

const renderNew = (context: UserPageContext, values: FormValues, errors: FormErrors, isKept = false): Page => ({
  title: 'New coupon',
  breadcrumb: { href: '/admin/coupons', text: 'Coupons' },
  subtitle: 'An account can use each coupon once.',
  body: html`${renderKept(isKept)}<form class="panel gap narrow" method="post" action="/admin/coupons/new">${context.csrfField}
${renderFormError(errors, context.texts)}
${renderInput({
  name: 'code',
  label: 'Code (optional)',
  value: values.code,
  errors,
  attributes: html`maxlength="40" spellcheck="false" autocapitalize="characters"`,
  hint: 'Four to forty letters, digits, “-” and “_”. Without one, a random code that cannot be guessed.',
})}
${renderInput({
  name: 'value',
  label: 'Days (optional)',
  type: 'number',
  value: values.value,
  errors,
  attributes: html`min="1" max="3650"`,
  hint: 'By which the trial is longer. Without a number, as long as the trial of new accounts.',
})}
${renderLimits(values, errors, context.timeZone)}
<div class="do"><button class="primary">Create coupon</button><a class="button quiet" href="/admin/coupons">Cancel</a></div>
</form>`,
});
