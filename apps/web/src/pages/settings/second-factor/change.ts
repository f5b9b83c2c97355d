import { isUuid } from '@carillon/contract/validation/formats';
import { encodeQR } from 'qr';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../../components/fields.ts';
import { readPasskey } from '../../../components/passkey-form.ts';
import { type Html, html } from '../../../html.ts';
import { renderNotFound } from '../../../http/errors.ts';
import { readForm } from '../../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../../page.ts';
import { CONFIRM, LIST, renderFactors } from './list.ts';

const getId = ({ request }: UserPageContext) => (request.params as { id: string }).id;

const needsConfirmation = ({ code }: { code?: unknown }) => code === 'CONFIRMATION_REQUIRED';

export async function createTotp(context: UserPageContext): Promise<Page | Redirect> {
  const name = readForm(context.request).text('name').trim();
  const result = await context.actions.createTotp(context.session, name === '' ? {} : { name });
  if (result.success) return redirect(`${LIST}/totp/${result.data.id}`);
  if (needsConfirmation(result)) return redirect(CONFIRM);
  return { ...(await renderFactors(context, toFormErrors(result, context.texts))), status: toStatus(result) };
}

export const showTotp = (context: UserPageContext): Promise<Page | Redirect> => renderTotp(context, NO_ERRORS);

async function renderTotp(context: UserPageContext, errors: FormErrors): Promise<Page | Redirect> {
  const { csrfField, texts } = context;
  const { secondFactor } = texts;
  const id = getId(context);
  if (!isUuid(id)) return renderNotFound(context);
  const result = await context.actions.getTotp(context.session, { id });
  if (!result.success && needsConfirmation(result)) return redirect(CONFIRM);
  const { name, secret, uri } = unwrap(result);
  return {
    title: secondFactor.addApp,
    breadcrumb: { href: LIST, text: secondFactor.title },
    subtitle: name,
    body: html`<form class="panel gap narrow" method="post" action="${LIST}/totp/${id}">${csrfField}
<p>${secondFactor.scan}</p>
${renderQrCode(uri, secondFactor.qrCode)}
<p>${secondFactor.typeSecret}</p>
<p class="secret"><code>${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p>
${renderFormError({ ...errors, fields: {} }, texts)}
${renderInput({
  name: 'code',
  label: secondFactor.firstCode,
  autocomplete: 'one-time-code',
  required: true,
  attributes: html`inputmode="numeric" maxlength="100"`,
  errors,
})}
<div class="do"><button class="primary">${secondFactor.turnOn}</button><a class="button quiet" href="${LIST}">${texts.forms.cancel}</a></div>
</form>`,
  };
}

export async function confirmTotp(context: UserPageContext): Promise<Page | Redirect> {
  const { secondFactor } = context.texts;
  const id = getId(context);
  if (!isUuid(id)) return renderNotFound(context);
  const code = readForm(context.request).text('code').trim() || '0';
  const result = await context.actions.confirmTotp(context.session, { id, code });
  if (result.success) return finishCreation(context, result.data.recoveryCodes);
  if (needsConfirmation(result)) return redirect(CONFIRM);
  const isWrong = result.code === undefined;
  const errors = isWrong
    ? { form: null, fields: { code: [secondFactor.wrongFirstCode] } }
    : toFormErrors(result, context.texts);
  const page = await renderTotp(context, errors);
  return 'to' in page ? page : { ...page, status: toStatus(result) };
}

export async function createPasskey(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, request, session, texts } = context;
  const form = readForm(request);
  const name = form.text('name').trim() || texts.secondFactor.passkeyName;
  const result = await actions.createPasskey(session, { name, response: readPasskey(form) });
  if (result.success) return finishCreation(context, result.data.recoveryCodes);
  if (needsConfirmation(result)) return redirect(CONFIRM);
  const isRefused = result.code === undefined;
  const errors = isRefused ? { form: texts.secondFactor.passkeyRejected, fields: {} } : toFormErrors(result, texts);
  return { ...(await renderFactors(context, errors)), status: toStatus(result) };
}

/** Answers with the page of the codes, because an address or a cookie would keep them. */
const finishCreation = (context: UserPageContext, codes: readonly string[]): Page | Redirect =>
  codes.length === 0 ? redirect(LIST, context.texts.secondFactor.turnedOn) : renderCodes(context, codes);

const renderCodes = ({ dashboard, texts, viewer }: UserPageContext, codes: readonly string[]): Page => {
  const { secondFactor } = texts;
  return {
    title: secondFactor.recoveryCodes,
    subtitle: secondFactor.codesText,
    body: html`<div class="panel gap narrow"><p>${secondFactor.codesFor(new URL(dashboard.appUrl).host, viewer.email)}</p>
<ol class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ol>
<p>${secondFactor.codesOnce}</p>
<div class="do"><a class="button primary" href="${LIST}">${secondFactor.codesKept}</a></div></div>`,
  };
};

export async function replaceCodes(context: UserPageContext): Promise<Page | Redirect> {
  const result = await context.actions.replaceRecoveryCodes(context.session, {});
  if (!result.success && needsConfirmation(result)) return redirect(CONFIRM);
  if (!result.success && result.code === 'CONFLICT') return redirect(LIST);
  return renderCodes(context, unwrap(result).recoveryCodes);
}

export async function showFactorDeletion(context: UserPageContext): Promise<Page | Redirect> {
  const { csrfField, texts } = context;
  const { secondFactor } = texts;
  const { factors, mayChangeFactors } = unwrap(await context.actions.getFactors(context.session, {}));
  const factor = factors.find(({ id }) => id === getId(context).toLowerCase());
  if (!factor) return renderNotFound(context);
  if (!mayChangeFactors) return redirect(CONFIRM);
  return {
    title: secondFactor.deleteTitle,
    breadcrumb: { href: LIST, text: secondFactor.title },
    subtitle: factor.name,
    body: html`<form class="panel gap narrow" method="post" action="${LIST}/${factor.id}/delete">${csrfField}
<p>${factors.length === 1 ? secondFactor.deleteLast : secondFactor.deleteText}</p>
<div class="do"><button class="danger">${secondFactor.deleteTitle}</button><a class="button quiet" href="${LIST}">${texts.forms.cancel}</a></div>
</form>`,
  };
}

export async function deleteFactor(context: UserPageContext): Promise<Page | Redirect> {
  const id = getId(context);
  if (!isUuid(id)) return renderNotFound(context);
  const result = await context.actions.deleteFactor(context.session, { id });
  if (!result.success && needsConfirmation(result)) return redirect(CONFIRM);
  unwrap(result);
  return redirect(LIST, context.texts.secondFactor.deleted);
}

/** A picture of a text for a camera. `label` says what it is. */
export function renderQrCode(text: string, label: string): Html {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 4 });
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${rows.length} ${rows.length}" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
}
