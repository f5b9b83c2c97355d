import { renderSelect } from '../../components/fields.ts';
import { type Html, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { askToConfirm, needsConfirmation } from './requests.ts';

const DEMANDS = ['off', 'admins', 'all'] as const;

/** Who needs a second factor: a part of the page of the settings. */
export const renderSecurity = (
  { csrfField, texts: { secondFactor, forms } }: UserPageContext,
  value: string,
): Html => html`<section aria-labelledby="security"><div class="head"><h2 id="security">${secondFactor.title}</h2></div>
<form class="panel gap narrow" method="post" action="/admin/security">${csrfField}
${renderSelect({
  name: 'secondFactor',
  label: secondFactor.demandLabel,
  value,
  options: DEMANDS.map((one) => ({ value: one, text: secondFactor.demands[one] })),
  hint: secondFactor.demandHint,
})}
<button>${forms.save}</button>
</form></section>`;

export async function changeSecurity(context: UserPageContext): Promise<Redirect> {
  const given = readForm(context.request).text('secondFactor');
  const secondFactor = DEMANDS.find((one) => one === given) ?? 'off';
  const result = await context.actions.changeSecurity(context.session, { secondFactor });
  if (needsConfirmation(result)) return askToConfirm(context, '/admin/settings');
  unwrap(result);
  return redirect('/admin/settings', context.texts.admin.settingsSaved);
}
