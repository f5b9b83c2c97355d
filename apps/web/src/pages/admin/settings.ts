import { type Page, type Redirect, redirect } from '../../answer.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../visit.ts';
import { askToConfirm, needsConfirmation, readTyped, renderKept, toNumber } from './requests.ts';
import { renderSections } from './sections.ts';

const FIELDS = ['trialDurationDays', 'maxTasksPerUser', 'maxExecutionsPerDay', 'defaultModel'] as const;
type Typed = Record<(typeof FIELDS)[number], string>;

export async function showSettings(visit: SignedInVisit): Promise<Page> {
  const typed = readTyped(visit, FIELDS);
  const settings = unwrap(await visit.actions.getSystemSettings(visit.session, {}));
  const values: Typed = {
    trialDurationDays: String(settings.trialDurationDays),
    maxTasksPerUser: String(settings.maxTasksPerUser),
    maxExecutionsPerDay: String(settings.maxExecutionsPerDay),
    defaultModel: settings.defaultModel,
  };
  return renderSettings(visit, typed ?? values, NO_ERRORS, typed !== null);
}

export async function changeSettings(visit: SignedInVisit): Promise<Page | Redirect> {
  const form = readForm(visit.request);
  const typed = Object.fromEntries(FIELDS.map((name) => [name, form.text(name)])) as Typed;
  const result = await visit.actions.changeSystemSettings(visit.session, {
    trialDurationDays: toNumber(typed.trialDurationDays),
    maxTasksPerUser: toNumber(typed.maxTasksPerUser),
    maxExecutionsPerDay: toNumber(typed.maxExecutionsPerDay),
    defaultModel: typed.defaultModel.trim(),
  });
  if (needsConfirmation(result)) return askToConfirm(visit, '/admin/settings', typed);
  if (result.success) return redirect('/admin/settings', 'The system settings are saved.');
  return { ...renderSettings(visit, typed, toFormErrors(result)), status: toStatus(result) };
}

const renderSettings = ({ csrfField }: SignedInVisit, typed: Typed, errors: FormErrors, isKept = false): Page => ({
  title: 'System settings',
  lead: 'For the whole service. Changes take effect at once, in every process.',
  body: html`${renderSections('/admin/settings')}
${renderKept(isKept)}
<form class="panel gap narrow" method="post" action="/admin/settings">${csrfField}
${renderFormError(errors)}
${renderInput({
  name: 'trialDurationDays',
  label: 'Trial of new accounts, in days',
  type: 'number',
  value: typed.trialDurationDays,
  required: true,
  errors,
  attributes: html`min="0" max="36500"`,
  hint: 'Existing accounts keep theirs. 0 for no trial.',
})}
${renderInput({
  name: 'maxTasksPerUser',
  label: 'Active tasks of one user, at most',
  type: 'number',
  value: typed.maxTasksPerUser,
  required: true,
  errors,
  attributes: html`min="1"`,
  hint: 'If the plan allows more.',
})}
${renderInput({
  name: 'maxExecutionsPerDay',
  label: 'Runs of one user in a day (UTC), at most',
  type: 'number',
  value: typed.maxExecutionsPerDay,
  required: true,
  errors,
  attributes: html`min="1"`,
  hint: 'If the plan allows more.',
})}
${renderInput({
  name: 'defaultModel',
  label: 'Model of tasks that name none',
  value: typed.defaultModel,
  required: true,
  errors,
  attributes: html`spellcheck="false"`,
})}
<button class="primary">Save</button>
</form>
<section aria-labelledby="maintenance"><div class="head"><h2 id="maintenance">Maintenance</h2></div>
<p>Closes the service to everybody but administrators. <a href="/admin/maintenance">Begin or end maintenance…</a></p></section>`,
});
