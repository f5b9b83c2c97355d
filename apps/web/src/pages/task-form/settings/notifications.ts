import { renderChannelBoxes } from '../../../components/channel-choices.ts';
import { renderRadios } from '../../../components/choices.ts';
import { type FormErrors, renderInput, renderTextarea } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { FormValues } from '../form-values.ts';
import type { SectionProps } from './section-props.ts';

const NOTIFY = [
  { value: 'always', text: 'After every run', hint: 'With the answer, or the reason why there is none.' },
  { value: 'change', text: 'When the answer changes', hint: 'And when a run fails.' },
  { value: 'failure', text: 'When a run fails', hint: 'Answers wait on the page of the task.' },
];

const ALERTS = [
  {
    value: 'default',
    text: 'As usual',
    hint: 'When a run is overdue by 15 minutes, or after 3 failures in a row. Only with an address or a channel.',
  },
  { value: 'own', text: 'By rules of its own', hint: 'A rule without a number is off.' },
  { value: 'none', text: 'Never' },
];

const renderRule = (
  name: keyof FormValues & string,
  label: string,
  values: FormValues,
  limits: string,
  errors: FormErrors,
): Html => renderInput({ name, label, type: 'number', value: String(values[name]), attributes: raw(limits), errors });

/** What is sent to the addresses and channels of the task, and when. */
export const renderNotifications = ({ values, formData, errors, texts }: SectionProps): Html =>
  html`${renderChannelBoxes({
    legend: 'Channels',
    channels: formData.channels,
    chosen: values.channels,
    hint: html`At most 10. <a href="/channels">Channels of the account</a>`,
    errors,
    texts,
  })}
${renderRadios({ name: 'notify', legend: 'Send to the addresses and channels', choices: NOTIFY, value: values.notify, errors })}
${renderTextarea({
  name: 'watch',
  label: 'Watched values',
  value: values.watch,
  rows: 3,
  attributes: raw('class="code" spellcheck="false" autocapitalize="off" autocomplete="off"'),
  hint: html`Only these count as a change. One path into the answer a line, such as <code>price</code> or <code>releases[].date</code>. Empty: the whole answer counts.`,
  errors,
})}
<div class="alerts gap">${renderRadios({ name: 'alerts', legend: 'Raise an alert', choices: ALERTS, value: values.alerts, errors })}
<div class="pairs own-rules">
${renderRule('overdueMinutes', 'Overdue by, in minutes', values, 'min="1" max="10080"', errors)}
${renderRule('failuresInRow', 'Failures in a row', values, 'min="1" max="100"', errors)}
${renderRule('costAboveUsd', 'A run costs more than, in $', values, 'min="0" max="1000000" step="any"', errors)}
${renderRule('durationAboveMs', 'A run takes longer than, in seconds', values, 'min="0.001" max="86400" step="any"', errors)}
</div></div>`;
