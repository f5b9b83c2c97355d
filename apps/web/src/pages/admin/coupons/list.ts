import type { WebActionData } from '../../../actions.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../../components/fields.ts';
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
  const { texts } = context;
  const { coupons: words, formats } = texts;
  const offset = readOffset(readQuery(context.request));
  const { coupons, stats, pagination } = unwrap(
    await context.actions.listCoupons(context.session, { limit: PAGE_SIZE, offset }),
  );
  return {
    title: words.title,
    subtitle: words.subtitle,
    aside: html`<a class="button primary" href="/admin/coupons/new">${words.newCoupon}</a>`,
    body: html`${renderSections(texts, '/admin/coupons')}
<dl class="figures">
<div><dt>${words.coupons}</dt><dd>${formats.number(stats.totalCoupons)}</dd><dd>${words.active(stats.activeCoupons)}</dd></div>
<div><dt>${words.allUses}</dt><dd>${formats.number(stats.totalUses)}</dd><dd>${words.allUsesText}</dd></div>
</dl>
${
  coupons.length === 0
    ? html`<div class="rows empty"><p>${words.none}</p><p><a class="button" href="/admin/coupons/new">${words.createFirst}</a></p></div>`
    : html`<div>${renderCoupons(coupons, context)}${renderOffsetPager(texts, '/admin/coupons', {}, pagination)}</div>`
}`,
  };
}

/** Whether it can be used, and if not, why. */
export function renderCouponState(
  { isActive, expiresAt, maxUses, usedCount }: Coupon,
  { now, texts }: UserPageContext,
): Html {
  const { states } = texts.coupons;
  if (!isActive) return renderOutcome('paused', states.off);
  if (expiresAt !== null && new Date(expiresAt) <= now) return renderOutcome('skipped', states.expired);
  if (maxUses !== null && usedCount >= maxUses) return renderOutcome('skipped', states.used);
  return renderOutcome('ran', states.valid);
}

function renderCoupons(coupons: readonly Coupon[], context: UserPageContext): Html {
  const { coupons: words, formats } = context.texts;
  return renderTable(
    words.caption,
    [
      { head: words.code },
      { head: words.state },
      { head: words.trial, class: 'num' },
      { head: words.uses, class: 'num' },
      { head: words.expires, class: 'num' },
    ],
    coupons.map((coupon) =>
      renderRow(
        renderRowHead(
          html`<a href="/admin/coupons/${coupon.id}">${coupon.code}</a><span class="sub">${words.createdBy(coupon.createdByEmail)}</span>`,
        ),
        renderCell(renderCouponState(coupon, context)),
        renderCell(words.extraDays(coupon.value), { class: 'num start', label: words.trial }),
        renderCell(
          coupon.maxUses === null ? formats.number(coupon.usedCount) : words.usesOf(coupon.usedCount, coupon.maxUses),
          { class: 'num', label: words.uses },
        ),
        renderCell(coupon.expiresAt === null ? words.never : renderMoment(coupon.expiresAt, context), {
          class: 'num start',
          label: words.expires,
        }),
      ),
    ),
  );
}

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
  const { limits, errors } = toLimits(values, context);
  if (errors) return { ...renderNew(context, values, errors), status: 422 };
  const result = await context.actions.createCoupon(context.session, {
    ...(values.code !== '' && { code: values.code }),
    ...(values.value !== '' && { value: toNumber(values.value) }),
    ...limits,
  });
  if (needsConfirmation(result)) return askToConfirm(context, '/admin/coupons/new', { ...values });
  if (result.success)
    return redirect(`/admin/coupons/${result.data.id}`, context.texts.coupons.created(result.data.code));
  return { ...renderNew(context, values, toFormErrors(result, context.texts)), status: toStatus(result) };
}

const renderNew = (context: UserPageContext, values: FormValues, errors: FormErrors, isKept = false): Page => ({
  title: context.texts.coupons.newCoupon,
  breadcrumb: { href: '/admin/coupons', text: context.texts.coupons.title },
  subtitle: context.texts.coupons.newText,
  body: html`${renderKept(context.texts, isKept)}<form class="panel gap narrow" method="post" action="/admin/coupons/new">${context.csrfField}
${renderFormError(errors, context.texts)}
${renderInput({
  name: 'code',
  label: context.texts.coupons.codeLabel,
  value: values.code,
  errors,
  attributes: html`maxlength="40" spellcheck="false" autocapitalize="characters"`,
  hint: context.texts.coupons.codeHint,
})}
${renderInput({
  name: 'value',
  label: context.texts.coupons.days,
  type: 'number',
  value: values.value,
  errors,
  attributes: html`min="1" max="3650"`,
  hint: context.texts.coupons.daysHint,
})}
${renderLimits(values, errors, context)}
<div class="do"><button class="primary">${context.texts.coupons.create}</button><a class="button quiet" href="/admin/coupons">${context.texts.forms.cancel}</a></div>
</form>`,
});
