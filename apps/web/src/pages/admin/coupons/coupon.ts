import type { WebActionData } from '../../../actions.ts';
import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../../components/fields.ts';
import { countWords, formatCount } from '../../../components/format.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { renderMoment, renderMomentWithDistance } from '../../../components/times.ts';
import { type Html, html, raw } from '../../../html.ts';
import { readForm, readQuery } from '../../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../../page.ts';
import { toLocalTime } from '../local-time.ts';
import { readOffset, renderOffsetPager } from '../offset-pager.ts';
import { askToConfirm, needsConfirmation, readFormValues, readIdOf, renderKept } from '../requests.ts';
import { COUPON_LIMITS, type CouponLimits, readLimits, renderLimits, toLimits } from './limits.ts';
import { renderCouponState } from './list.ts';

const PAGE_SIZE = 50;
const CRUMB = { href: '/admin/coupons', text: 'Coupons' };

type Found = WebActionData<'getCoupon'>;
type FormValues = CouponLimits & { isActive: string };

interface Filled {
  values: FormValues;
  errors?: FormErrors;
  isKept?: boolean;
  status?: number;
}

async function readCoupon(context: UserPageContext): Promise<Found> {
  const { actions, session, request } = context;
  const offset = readOffset(readQuery(request));
  return unwrap(await actions.getCoupon(session, { id: readIdOf(context), limit: PAGE_SIZE, offset }));
}

export async function showCoupon(context: UserPageContext): Promise<Page> {
  const found = await readCoupon(context);
  const { isActive, maxUses, expiresAt } = found.coupon;
  const kept = readFormValues(context, ['isActive', ...COUPON_LIMITS]);
  const values: FormValues = {
    isActive: isActive ? 'yes' : '',
    maxUses: maxUses === null ? '' : String(maxUses),
    expiresAt: expiresAt === null ? '' : toLocalTime(new Date(expiresAt), context.timeZone),
  };
  return renderCoupon(context, found, { values: kept ?? values, isKept: kept !== null });
}

export async function changeCoupon(context: UserPageContext): Promise<Page | Redirect> {
  const id = readIdOf(context);
  const form = readForm(context.request);
  const values: FormValues = { isActive: form.has('isActive') ? 'yes' : '', ...readLimits(form) };
  const { limits, errors } = toLimits(values, context.timeZone);
  if (errors) return renderCoupon(context, await readCoupon(context), { values, errors, status: 422 });
  // The field has no seconds: as long as it is not changed, the instant stays.
  const isSame = form.text('shownExpiry') === values.expiresAt;
  const result = await context.actions.changeCoupon(context.session, {
    id,
    isActive: values.isActive === 'yes',
    maxUses: limits.maxUses,
    ...(!isSame && { expiresAt: limits.expiresAt }),
  });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/coupons/${id}`, { ...values });
  if (result.success) return redirect(`/admin/coupons/${id}`, 'The coupon is saved.');
  const status = toStatus(result);
  return renderCoupon(context, await readCoupon(context), {
    values,
    errors: toFormErrors(result, context.texts),
    status,
  });
}

function renderCoupon(
  context: UserPageContext,
  { coupon, usage }: Found,
  { values, errors = NO_ERRORS, isKept = false, status = 200 }: Filled,
): Page {
  const shownExpiry = coupon.expiresAt === null ? '' : toLocalTime(new Date(coupon.expiresAt), context.timeZone);
  return {
    title: coupon.code,
    status,
    breadcrumb: CRUMB,
    subtitle: html`${renderCouponState(coupon, context.now)}`,
    aside: html`<a class="button danger" href="/admin/coupons/${coupon.id}/delete">Delete…</a>`,
    body: html`${renderKept(isKept)}<div class="split"><div class="gap-l">
<dl class="facts">
<dt>Trial</dt><dd>${countWords(coupon.value, 'day')} longer</dd>
<dt>Uses</dt><dd>${formatCount(coupon.usedCount)}${coupon.maxUses !== null && ` of ${formatCount(coupon.maxUses)}`}</dd>
<dt>Expires</dt><dd>${coupon.expiresAt === null ? 'Never' : renderMoment(coupon.expiresAt, context)}</dd>
<dt>Created</dt><dd>${renderMoment(coupon.createdAt, context)} by ${coupon.createdByEmail}</dd>
<dt>Changed</dt><dd>${renderMoment(coupon.updatedAt, context)}</dd>
</dl>
${renderUses(context, coupon, usage)}
</div>
<aside aria-label="Change"><form class="panel gap" method="post" action="/admin/coupons/${coupon.id}">${context.csrfField}
<input type="hidden" name="shownExpiry" value="${shownExpiry}">
<h2>Change</h2>
${renderFormError(errors, context.texts)}
<label class="check"><input type="checkbox" name="isActive" value="yes"${values.isActive === 'yes' && raw(' checked')}> Switched on</label>
${renderLimits(values, errors, context.timeZone)}
<button class="primary">Save</button>
</form></aside></div>`,
  };
}

function renderUses(context: UserPageContext, { id, usedCount }: Found['coupon'], usage: Found['usage']): Html {
  const offset = readOffset(readQuery(context.request));
  const rows = usage.map(({ userId, userEmail, userName, usedAt }) =>
    renderRow(
      renderRowHead(html`<a href="/admin/users/${userId}">${userName}</a><span class="sub">${userEmail}</span>`),
      renderCell(renderMomentWithDistance(usedAt, context), { class: 'num' }),
    ),
  );
  return html`<section aria-labelledby="uses"><div class="head"><h2 id="uses">Uses</h2><p>without accounts that were deleted</p></div>
${
  rows.length === 0
    ? html`<p class="muted">Accounts that use the coupon will stand here.</p>`
    : html`${renderTable('Uses, newest first', [{ head: 'User' }, { head: 'Used', class: 'num' }], rows)}${renderOffsetPager(`/admin/coupons/${id}`, {}, { total: Math.max(usedCount, offset + rows.length), limit: PAGE_SIZE, offset })}`
}</section>`;
}

export async function showDeleteCoupon(context: UserPageContext): Promise<Page> {
  const { coupon } = await readCoupon(context);
  return {
    title: 'Delete coupon',
    breadcrumb: { href: `/admin/coupons/${coupon.id}`, text: coupon.code },
    body: html`<form class="panel gap narrow" method="post" action="/admin/coupons/${coupon.id}/delete">${context.csrfField}
<p>The code <b>${coupon.code}</b> cannot be used any more, and the list of its ${countWords(coupon.usedCount, 'use')} is lost. Trials that it made longer stay as they are.</p>
<div class="do"><button class="danger">Delete coupon</button><a class="button quiet" href="/admin/coupons/${coupon.id}">Cancel</a></div>
</form>`,
  };
}

export async function deleteCoupon(context: UserPageContext): Promise<Redirect> {
  const id = readIdOf(context);
  const result = await context.actions.deleteCoupon(context.session, { id });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/coupons/${id}/delete`);
  unwrap(result);
  return redirect('/admin/coupons', 'The coupon is deleted.');
}
