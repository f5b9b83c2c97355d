import { renderChannelBoxes } from '../../../components/channel-choices.ts';
import { renderRadios } from '../../../components/choices.ts';
import { type FormErrors, renderInput, renderTextarea } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { FormValues } from '../form-values.ts';
import type { SectionProps } from './section-props.ts';

const renderRule = (
  name: keyof FormValues & string,
  label: string,
  values: FormValues,
  limits: string,
  errors: FormErrors,
): Html => renderInput({ name, label, type: 'number', value: String(values[name]), attributes: raw(limits), errors });

/** What is sent to the addresses and channels of the task, and when. */
export function renderNotifications({ values, formData, errors, texts }: SectionProps): Html {
  const { taskForm } = texts;
  const { fields } = taskForm;
  const notify = [
    { value: 'always', text: taskForm.notifyAlways, hint: taskForm.notifyAlwaysHint },
    { value: 'change', text: taskForm.notifyChange, hint: taskForm.notifyChangeHint },
    { value: 'news', text: taskForm.notifyNews, hint: taskForm.notifyNewsHint },
    { value: 'failure', text: taskForm.notifyFailure, hint: taskForm.notifyFailureHint },
  ];
  const alerts = [
    { value: 'default', text: taskForm.alertsDefault, hint: taskForm.alertsDefaultHint },
    { value: 'own', text: taskForm.alertsOwn, hint: taskForm.alertsOwnHint },
    { value: 'none', text: taskForm.alertsNone },
  ];
  return html`${renderRadios({ name: 'notify', legend: taskForm.notify, choices: notify, value: values.notify, errors })}
${renderChannelBoxes({
  legend: fields.channels,
  channels: formData.channels,
  chosen: values.channels,
  hint: html`${taskForm.channelsHint((text) => html`<a href="/channels">${text}</a>`)}`,
  errors,
  texts,
})}
<div class="halves">
${renderInput({
  name: 'notificationEmail',
  label: fields.notificationEmail,
  type: 'email',
  value: values.notificationEmail,
  hint: taskForm.emailHint,
  errors,
})}
${renderInput({
  name: 'webhookUrl',
  label: fields.webhookUrl,
  type: 'url',
  value: values.webhookUrl,
  hint: taskForm.webhookHint,
  errors,
})}
</div>
${renderTextarea({
  name: 'watch',
  label: fields.watch,
  value: values.watch,
  rows: 3,
  attributes: raw('class="code" spellcheck="false" autocapitalize="off" autocomplete="off"'),
  hint: html`${taskForm.watchHint((text) => html`<code>${text}</code>`)}`,
  errors,
})}
<div class="alerts gap">${renderRadios({ name: 'alerts', legend: fields.alerts, choices: alerts, value: values.alerts, errors })}
<div class="pairs own-rules">
${renderRule('overdueMinutes', fields.overdueMinutes, values, 'min="1" max="10080"', errors)}
${renderRule('failuresInRow', fields.failuresInRow, values, 'min="1" max="100"', errors)}
${renderRule('costAboveUsd', taskForm.costAbove, values, 'min="0" max="1000000" step="any"', errors)}
${renderRule('durationAboveMs', taskForm.durationAbove, values, 'min="0.001" max="86400" step="any"', errors)}
${renderRule('fallbacksInRow', fields.fallbacksInRow, values, 'min="1" max="100"', errors)}
</div></div>`;
}
