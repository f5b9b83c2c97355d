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
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { askToConfirm, needsConfirmation, readFormValues, renderKept, toNumber } from './requests.ts';
import { renderSections } from './sections.ts';

const FIELDS = ['trialDurationDays', 'maxTasksPerUser', 'maxExecutionsPerDay', 'defaultModel'] as const;
type FormValues = Record<(typeof FIELDS)[number], string>;

export async function showSettings(context: UserPageContext): Promise<Page> {
  const submitted = readFormValues(context, FIELDS);
  const settings = unwrap(await context.actions.getSystemSettings(context.session, {}));
  const values: FormValues = {
    trialDurationDays: String(settings.trialDurationDays),
    maxTasksPerUser: String(settings.maxTasksPerUser),
    maxExecutionsPerDay: String(settings.maxExecutionsPerDay),
    defaultModel: settings.defaultModel,
  };
  return renderSettings(context, submitted ?? values, NO_ERRORS, submitted !== null);
}

export async function changeSettings(context: UserPageContext): Promise<Page | Redirect> {
  const form = readForm(context.request);
  const values = Object.fromEntries(FIELDS.map((name) => [name, form.text(name)])) as FormValues;
  const result = await context.actions.changeSystemSettings(context.session, {
    trialDurationDays: toNumber(values.trialDurationDays),
    maxTasksPerUser: toNumber(values.maxTasksPerUser),
    maxExecutionsPerDay: toNumber(values.maxExecutionsPerDay),
    defaultModel: values.defaultModel.trim(),
  });
  if (needsConfirmation(result)) return askToConfirm(context, '/admin/settings', values);
  if (result.success) return redirect('/admin/settings', 'The system settings are saved.');
  return { ...renderSettings(context, values, toFormErrors(result, context.texts)), status: toStatus(result) };
}

const renderSettings = (
  { csrfField, texts }: UserPageContext,
  values: FormValues,
  errors: FormErrors,
  isKept = false,
): Page => ({
  title: 'System settings',
  subtitle: 'For the whole service. Changes take effect at once, in every process.',
  body: html`${renderSections('/admin/settings')}
${renderKept(isKept)}
<form class="panel gap narrow" method="post" action="/admin/settings">${csrfField}
${renderFormError(errors, texts)}
${renderInput({
  name: 'trialDurationDays',
  label: 'Trial of new accounts, in days',
  type: 'number',
  value: values.trialDurationDays,
  required: true,
  errors,
  attributes: html`min="0" max="36500"`,
  hint: 'Existing accounts keep theirs. 0 for no trial.',
})}
${renderInput({
  name: 'maxTasksPerUser',
  label: 'Active tasks of one user, at most',
  type: 'number',
  value: values.maxTasksPerUser,
  required: true,
  errors,
  attributes: html`min="1"`,
  hint: 'If the plan allows more.',
})}
${renderInput({
  name: 'maxExecutionsPerDay',
  label: 'Runs of one user in a day (UTC), at most',
  type: 'number',
  value: values.maxExecutionsPerDay,
  required: true,
  errors,
  attributes: html`min="1"`,
  hint: 'If the plan allows more.',
})}
${renderInput({
  name: 'defaultModel',
  label: 'Model of tasks that name none',
  value: values.defaultModel,
  required: true,
  errors,
  attributes: html`spellcheck="false"`,
})}
<button class="primary">Save</button>
</form>
<section aria-labelledby="maintenance"><div class="head"><h2 id="maintenance">Maintenance</h2></div>
<p>Closes the service to everybody but administrators. <a href="/admin/maintenance">Begin or end maintenance…</a></p></section>`,
});
