import type { WebActionData } from '../../../actions.ts';
import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../../components/fields.ts';
import { formatLocalTime } from '../../../components/schedule/local-time.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { renderMoment, renderMomentWithDistance } from '../../../components/times.ts';
import { type Html, html, raw } from '../../../html.ts';
import { readForm, readQuery } from '../../../http/forms.ts';
import { readId } from '../../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../../page.ts';
import { readOffset, renderOffsetPager } from '../offset-pager.ts';
import { askToConfirm, needsConfirmation, readFormValues, renderKept } from '../requests.ts';
import { COUPON_LIMITS, type CouponLimits, readLimits, renderLimits, toLimits } from './limits.ts';
import { renderCouponState } from './list.ts';

const PAGE_SIZE = 50;

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
  return unwrap(await actions.getCoupon(session, { id: readId(context), limit: PAGE_SIZE, offset }));
}

export async function showCoupon(context: UserPageContext): Promise<Page> {
  const found = await readCoupon(context);
  const { isActive, maxUses, expiresAt } = found.coupon;
  const kept = readFormValues(context, ['isActive', ...COUPON_LIMITS]);
  const values: FormValues = {
    isActive: isActive ? 'yes' : '',
    maxUses: maxUses === null ? '' : String(maxUses),
    expiresAt: expiresAt === null ? '' : formatLocalTime(new Date(expiresAt), context.timeZone),
  };
  return renderCoupon(context, found, { values: kept ?? values, isKept: kept !== null });
}

export async function changeCoupon(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const form = readForm(context.request);
  const values: FormValues = { isActive: form.has('isActive') ? 'yes' : '', ...readLimits(form) };
  const { limits, errors } = toLimits(values, context);
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
  if (result.success) return redirect(`/admin/coupons/${id}`, context.texts.coupons.saved);
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
  const { texts } = context;
  const { coupons, formats, forms } = texts;
  const shownExpiry = coupon.expiresAt === null ? '' : formatLocalTime(new Date(coupon.expiresAt), context.timeZone);
  return {
    title: coupon.code,
    status,
    breadcrumb: { href: '/admin/coupons', text: coupons.title },
    subtitle: renderCouponState(coupon, context),
    aside: html`<a class="button danger" href="/admin/coupons/${coupon.id}/delete">${forms.delete}</a>`,
    body: html`${renderKept(texts, isKept)}<div class="split"><div class="gap-l">
<dl class="facts">
<dt>${coupons.trial}</dt><dd>${coupons.extraDays(coupon.value)}</dd>
<dt>${coupons.uses}</dt><dd>${
      coupon.maxUses === null ? formats.number(coupon.usedCount) : coupons.usesOf(coupon.usedCount, coupon.maxUses)
    }</dd>
<dt>${coupons.expires}</dt><dd>${coupon.expiresAt === null ? coupons.never : renderMoment(coupon.expiresAt, context)}</dd>
<dt>${coupons.createdAt}</dt><dd>${coupons.createdAtBy(renderMoment(coupon.createdAt, context), coupon.createdByEmail)}</dd>
<dt>${coupons.changedAt}</dt><dd>${renderMoment(coupon.updatedAt, context)}</dd>
</dl>
${renderUses(context, coupon, usage)}
</div>
<aside aria-label="${texts.lists.actions}"><form class="panel gap" method="post" action="/admin/coupons/${coupon.id}">${context.csrfField}
<input type="hidden" name="shownExpiry" value="${shownExpiry}">
<h2>${coupons.change}</h2>
${renderFormError(errors, texts)}
<label class="check"><input type="checkbox" name="isActive" value="yes"${values.isActive === 'yes' && raw(' checked')}> ${coupons.on}</label>
${renderLimits(values, errors, context)}
<button class="primary">${texts.forms.save}</button>
</form></aside></div>`,
  };
}

function renderUses(context: UserPageContext, { id, usedCount }: Found['coupon'], usage: Found['usage']): Html {
  const { texts } = context;
  const { coupons } = texts;
  const offset = readOffset(readQuery(context.request));
  const rows = usage.map(({ userId, userEmail, userName, usedAt }) =>
    renderRow(
      renderRowHead(html`<a href="/admin/users/${userId}">${userName}</a><span class="sub">${userEmail}</span>`),
      renderCell(renderMomentWithDistance(usedAt, context), { class: 'num' }),
    ),
  );
  return html`<section aria-labelledby="uses"><div class="head"><h2 id="uses">${coupons.uses}</h2><p>${coupons.usesHint}</p></div>
${
  rows.length === 0
    ? html`<p class="muted">${coupons.noUses}</p>`
    : html`${renderTable(coupons.usesCaption, [{ head: coupons.user }, { head: coupons.usedAt, class: 'num' }], rows)}${renderOffsetPager(texts, `/admin/coupons/${id}`, {}, { total: Math.max(usedCount, offset + rows.length), limit: PAGE_SIZE, offset })}`
}</section>`;
}

export async function showDeleteCoupon(context: UserPageContext): Promise<Page> {
  const { coupons, forms } = context.texts;
  const { coupon } = await readCoupon(context);
  return {
    title: coupons.deleteTitle,
    breadcrumb: { href: `/admin/coupons/${coupon.id}`, text: coupon.code },
    body: html`<form class="panel gap narrow" method="post" action="/admin/coupons/${coupon.id}/delete">${context.csrfField}
<p>${coupons.deleteText(html`<b>${coupon.code}</b>`, coupon.usedCount)}</p>
<div class="do"><button class="danger">${coupons.deleteTitle}</button><a class="button quiet" href="/admin/coupons/${coupon.id}">${forms.cancel}</a></div>
</form>`,
  };
}

export async function deleteCoupon(context: UserPageContext): Promise<Redirect> {
  const id = readId(context);
  const result = await context.actions.deleteCoupon(context.session, { id });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/coupons/${id}/delete`);
  unwrap(result);
  return redirect('/admin/coupons', context.texts.coupons.deleted);
}
