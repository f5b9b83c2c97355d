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
import { renderSecurity } from './security.ts';

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
  return renderSettings(context, settings.secondFactor, submitted ?? values, NO_ERRORS, submitted !== null);
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
  if (result.success) return redirect('/admin/settings', context.texts.admin.settingsSaved);
  const { secondFactor } = unwrap(await context.actions.getSystemSettings(context.session, {}));
  const errors = toFormErrors(result, context.texts);
  return { ...renderSettings(context, secondFactor, values, errors), status: toStatus(result) };
}

const renderSettings = (
  context: UserPageContext,
  secondFactor: string,
  values: FormValues,
  errors: FormErrors,
  isKept = false,
  { csrfField, texts } = context,
): Page => ({
  title: texts.admin.settingsTitle,
  subtitle: texts.admin.settingsText,
  body: html`${renderSections(texts, '/admin/settings')}
${renderKept(texts, isKept)}
<form class="panel gap narrow" method="post" action="/admin/settings">${csrfField}
${renderFormError(errors, texts)}
${renderInput({
  name: 'trialDurationDays',
  label: texts.admin.trialDays,
  type: 'number',
  value: values.trialDurationDays,
  required: true,
  errors,
  attributes: html`min="0" max="36500"`,
  hint: texts.admin.trialDaysHint,
})}
${renderInput({
  name: 'maxTasksPerUser',
  label: texts.admin.maxTasks,
  type: 'number',
  value: values.maxTasksPerUser,
  required: true,
  errors,
  attributes: html`min="1"`,
  hint: texts.admin.planHint,
})}
${renderInput({
  name: 'maxExecutionsPerDay',
  label: texts.admin.maxRuns,
  type: 'number',
  value: values.maxExecutionsPerDay,
  required: true,
  errors,
  attributes: html`min="1"`,
  hint: texts.admin.planHint,
})}
${renderInput({
  name: 'defaultModel',
  label: texts.admin.defaultModel,
  value: values.defaultModel,
  required: true,
  errors,
  attributes: html`spellcheck="false"`,
})}
<button class="primary">${texts.forms.save}</button>
</form>
${renderSecurity(context, secondFactor)}
<section aria-labelledby="maintenance"><div class="head"><h2 id="maintenance">${texts.admin.maintenance}</h2></div>
<p>${texts.admin.maintenanceHint} <a href="/admin/maintenance">${texts.admin.changeMaintenance}</a></p></section>`,
});
