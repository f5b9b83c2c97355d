import type { WebActionData } from '../../../actions.ts';
import { type Page, type Redirect, redirect } from '../../../answer.ts';
import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../../components/fields.ts';
import { countWords, formatCount } from '../../../components/format.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { renderMoment, renderMomentWithDistance } from '../../../components/times.ts';
import { type Html, html, raw } from '../../../html.ts';
import { readForm, readQuery } from '../../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../../visit.ts';
import { toLocalTime } from '../local-time.ts';
import { readOffset, renderOffsetPager } from '../offset-pager.ts';
import { askToConfirm, needsConfirmation, readIdOf, readTyped, renderKept } from '../requests.ts';
import { COUPON_LIMITS, type CouponLimits, readLimits, renderLimits, toLimits } from './limits.ts';
import { renderCouponState } from './list.ts';

const PAGE_SIZE = 50;
const CRUMB = { href: '/admin/coupons', text: 'Coupons' };

type Found = WebActionData<'getCoupon'>;
type Typed = CouponLimits & { isActive: string };

interface Filled {
  typed: Typed;
  errors?: FormErrors;
  isKept?: boolean;
  status?: number;
}

async function readCoupon(visit: SignedInVisit): Promise<Found> {
  const { actions, session, request } = visit;
  const offset = readOffset(readQuery(request));
  return unwrap(await actions.getCoupon(session, { id: readIdOf(visit), limit: PAGE_SIZE, offset }));
}

export async function showCoupon(visit: SignedInVisit): Promise<Page> {
  const found = await readCoupon(visit);
  const { isActive, maxUses, expiresAt } = found.coupon;
  const kept = readTyped(visit, ['isActive', ...COUPON_LIMITS]);
  const values: Typed = {
    isActive: isActive ? 'yes' : '',
    maxUses: maxUses === null ? '' : String(maxUses),
    expiresAt: expiresAt === null ? '' : toLocalTime(new Date(expiresAt), visit.timeZone),
  };
  return renderCoupon(visit, found, { typed: kept ?? values, isKept: kept !== null });
}

export async function changeCoupon(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = readIdOf(visit);
  const form = readForm(visit.request);
  const typed: Typed = { isActive: form.has('isActive') ? 'yes' : '', ...readLimits(form) };
  const { limits, errors } = toLimits(typed, visit.timeZone);
  if (errors) return renderCoupon(visit, await readCoupon(visit), { typed, errors, status: 422 });
  // The field has no seconds: as long as it is not changed, the instant stays.
  const isSame = form.text('shownExpiry') === typed.expiresAt;
  const result = await visit.actions.changeCoupon(visit.session, {
    id,
    isActive: typed.isActive === 'yes',
    maxUses: limits.maxUses,
    ...(!isSame && { expiresAt: limits.expiresAt }),
  });
  if (needsConfirmation(result)) return askToConfirm(visit, `/admin/coupons/${id}`, { ...typed });
  if (result.success) return redirect(`/admin/coupons/${id}`, 'The coupon is saved.');
  const status = toStatus(result);
  return renderCoupon(visit, await readCoupon(visit), { typed, errors: toFormErrors(result), status });
}

function renderCoupon(
  visit: SignedInVisit,
  { coupon, usage }: Found,
  { typed, errors = NO_ERRORS, isKept = false, status = 200 }: Filled,
): Page {
  const shownExpiry = coupon.expiresAt === null ? '' : toLocalTime(new Date(coupon.expiresAt), visit.timeZone);
  return {
    title: coupon.code,
    status,
    crumb: CRUMB,
    lead: html`${renderCouponState(coupon, visit.now)}`,
    aside: html`<a class="button danger" href="/admin/coupons/${coupon.id}/delete">Delete…</a>`,
    body: html`${renderKept(isKept)}<div class="split"><div class="gap-l">
<dl class="facts">
<dt>Trial</dt><dd>${countWords(coupon.value, 'day')} longer</dd>
<dt>Uses</dt><dd>${formatCount(coupon.usedCount)}${coupon.maxUses !== null && ` of ${formatCount(coupon.maxUses)}`}</dd>
<dt>Expires</dt><dd>${coupon.expiresAt === null ? 'Never' : renderMoment(coupon.expiresAt, visit)}</dd>
<dt>Created</dt><dd>${renderMoment(coupon.createdAt, visit)} by ${coupon.createdByEmail}</dd>
<dt>Changed</dt><dd>${renderMoment(coupon.updatedAt, visit)}</dd>
</dl>
${renderUses(visit, coupon, usage)}
</div>
<aside aria-label="Change"><form class="panel gap" method="post" action="/admin/coupons/${coupon.id}">${visit.csrfField}
<input type="hidden" name="shownExpiry" value="${shownExpiry}">
<h2>Change</h2>
${renderFormError(errors)}
<label class="check"><input type="checkbox" name="isActive" value="yes"${typed.isActive === 'yes' && raw(' checked')}> Switched on</label>
${renderLimits(typed, errors, visit.timeZone)}
<button class="primary">Save</button>
</form></aside></div>`,
  };
}

function renderUses(visit: SignedInVisit, { id, usedCount }: Found['coupon'], usage: Found['usage']): Html {
  const offset = readOffset(readQuery(visit.request));
  const rows = usage.map(({ userId, userEmail, userName, usedAt }) =>
    renderRow(
      renderRowHead(html`<a href="/admin/users/${userId}">${userName}</a><span class="sub">${userEmail}</span>`),
      renderCell(renderMomentWithDistance(usedAt, visit), { class: 'num' }),
    ),
  );
  return html`<section aria-labelledby="uses"><div class="head"><h2 id="uses">Uses</h2><p>without accounts that were deleted</p></div>
${
  rows.length === 0
    ? html`<p class="muted">Accounts that use the coupon will stand here.</p>`
    : html`${renderTable('Uses, newest first', [{ head: 'User' }, { head: 'Used', class: 'num' }], rows)}${renderOffsetPager(`/admin/coupons/${id}`, {}, { total: Math.max(usedCount, offset + rows.length), limit: PAGE_SIZE, offset })}`
}</section>`;
}

export async function showDeleteCoupon(visit: SignedInVisit): Promise<Page> {
  const { coupon } = await readCoupon(visit);
  return {
    title: 'Delete coupon',
    crumb: { href: `/admin/coupons/${coupon.id}`, text: coupon.code },
    body: html`<form class="panel gap narrow" method="post" action="/admin/coupons/${coupon.id}/delete">${visit.csrfField}
<p>The code <b>${coupon.code}</b> cannot be used any more, and the list of its ${countWords(coupon.usedCount, 'use')} is lost. Trials that it made longer stay as they are.</p>
<div class="do"><button class="danger">Delete coupon</button><a class="button quiet" href="/admin/coupons/${coupon.id}">Cancel</a></div>
</form>`,
  };
}

export async function deleteCoupon(visit: SignedInVisit): Promise<Redirect> {
  const id = readIdOf(visit);
  const result = await visit.actions.deleteCoupon(visit.session, { id });
  if (needsConfirmation(result)) return askToConfirm(visit, `/admin/coupons/${id}/delete`);
  unwrap(result);
  return redirect('/admin/coupons', 'The coupon is deleted.');
}
