import type { WebActionData } from '../../../actions.ts';
import { type FormErrors, NO_ERRORS, renderFormError, renderInput } from '../../../components/fields.ts';
import { PASSKEY_SCRIPTS, renderPasskeyForm } from '../../../components/passkey-form.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { renderMomentWithDistance } from '../../../components/times.ts';
import { EMPTY, type Html, html } from '../../../html.ts';
import { type Page, type UserPageContext, unwrap } from '../../../page.ts';
import { renderSections } from '../sections.ts';

export const LIST = '/settings/second-factor';
/** Leads back to the list. */
export const CONFIRM = `/settings/confirm?next=${encodeURIComponent(LIST)}`;

type Factors = WebActionData<'getFactors'>;

/** A part of the settings' page about security. */
export async function renderSecondFactorSetting(context: UserPageContext): Promise<Html> {
  const { secondFactor } = context.texts;
  const { factors } = unwrap(await context.actions.getFactors(context.session, {}));
  return html`<section class="setting" id="second-factor" aria-labelledby="second-factor-title">
<div><h2 id="second-factor-title">${secondFactor.title}</h2><p class="hint">${secondFactor.text}</p></div>
<div class="panel gap"><p>${secondFactor.count(factors.length)}</p>
<div class="do"><a class="button" href="${LIST}">${factors.length === 0 ? secondFactor.add : secondFactor.manage}</a></div></div>
</section>`;
}

export const showFactors = (context: UserPageContext): Promise<Page> => renderFactors(context, NO_ERRORS);

export async function renderFactors(context: UserPageContext, errors: FormErrors): Promise<Page> {
  const { texts, viewer } = context;
  const { secondFactor } = texts;
  const found = unwrap(await context.actions.getFactors(context.session, {}));
  return {
    title: secondFactor.title,
    breadcrumb: { href: '/settings/security', text: texts.settings.sections.security },
    subtitle: secondFactor.text,
    scripts: PASSKEY_SCRIPTS,
    body: html`${!viewer.isFactorMissing && renderSections(texts, '/settings/security')}
${viewer.isFactorMissing && html`<div class="notice warn" role="status"><p>${secondFactor.demanded}</p></div>`}
${renderFormError(errors, texts)}
${found.factors.length > 0 && renderList(context, found)}
${found.mayChangeFactors ? renderForms(context, found, errors) : renderAskToConfirm(context)}`,
  };
}

const renderList = (context: UserPageContext, { factors, mayChangeFactors }: Factors): Html => {
  const { secondFactor } = context.texts;
  return renderTable(
    secondFactor.title,
    [
      { head: secondFactor.name },
      { head: secondFactor.kind },
      { head: secondFactor.added },
      { head: secondFactor.lastUsed },
      { head: html`<span class="vh">${secondFactor.delete}</span>` },
    ],
    factors.map(({ id, kind, name, createdAt, lastUsedAt }) =>
      renderRow(
        renderRowHead(html`<b>${name}</b>`),
        renderCell(secondFactor.kinds[kind], { label: secondFactor.kind }),
        renderCell(renderMomentWithDistance(createdAt, context), { label: secondFactor.added }),
        renderCell(lastUsedAt === null ? secondFactor.never : renderMomentWithDistance(lastUsedAt, context), {
          label: secondFactor.lastUsed,
        }),
        renderCell(
          mayChangeFactors
            ? html`<a class="button" href="${LIST}/${id}/delete" aria-label="${secondFactor.deleteNamed(name)}">${secondFactor.delete}</a>`
            : null,
          { class: 'num whole' },
        ),
      ),
    ),
  );
};

const renderAskToConfirm = ({ texts: { secondFactor } }: UserPageContext): Html =>
  html`<div class="panel gap narrow"><p>${secondFactor.confirmText}</p>
<div class="do"><a class="button primary" href="${CONFIRM}">${secondFactor.confirm}</a></div></div>`;

function renderForms(context: UserPageContext, { factors, recoveryCodesLeft, options }: Factors, errors: FormErrors) {
  const { csrfField, texts } = context;
  const { secondFactor } = texts;
  return html`<div class="settings">
${
  options !== null &&
  html`<section class="setting" aria-labelledby="passkey-title">
<div><h2 id="passkey-title">${secondFactor.addPasskey}</h2><p class="hint">${secondFactor.passkeyText}</p></div>
<div class="panel gap">${renderPasskeyForm(context, {
    action: `${LIST}/passkey`,
    kind: 'create',
    options,
    button: secondFactor.addPasskey,
    fields: renderInput({
      name: 'name',
      id: 'passkey-name',
      label: secondFactor.name,
      value: secondFactor.passkeyName,
      required: true,
      attributes: html`maxlength="100"`,
      errors,
    }),
  })}<noscript><p>${secondFactor.needsScripts}</p></noscript></div></section>`
}
<section class="setting" aria-labelledby="app-title">
<div><h2 id="app-title">${secondFactor.addApp}</h2><p class="hint">${secondFactor.appText}</p></div>
<form class="panel gap" method="post" action="${LIST}/totp">${csrfField}
${renderInput({
  name: 'name',
  id: 'app-name',
  label: secondFactor.name,
  value: secondFactor.appName,
  required: true,
  attributes: html`maxlength="100"`,
})}
<div class="do"><button>${secondFactor.addApp}</button></div></form></section>
${
  factors.length > 0
    ? html`<section class="setting" aria-labelledby="codes-title">
<div><h2 id="codes-title">${secondFactor.recoveryCodes}</h2><p class="hint">${secondFactor.recoveryText}</p></div>
<form class="panel gap" method="post" action="${LIST}/recovery-codes">${csrfField}
<p>${secondFactor.codesLeft(recoveryCodesLeft)}</p>
<div class="do"><button>${secondFactor.replaceCodes}</button></div></form></section>`
    : EMPTY
}
</div>`;
}
