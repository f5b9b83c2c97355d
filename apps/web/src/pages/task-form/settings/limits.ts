import { renderInput } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { SectionProps } from './section-props.ts';

/** When the task stops, and what it may cost. */
export const renderLimits = ({ values, errors, formData: { task } }: SectionProps): Html =>
  html`${task && html`<input type="hidden" name="plannedRuns" value="${task.plannedRuns}">`}<div class="pairs">
${renderInput({
  name: 'pausedUntil',
  label: 'Paused until',
  type: 'datetime-local',
  value: values.pausedUntil,
  hint: 'In the time zone of the task. Nothing is planned before this.',
  errors,
})}
${renderInput({
  name: 'endsAt',
  label: 'Ends at',
  type: 'datetime-local',
  value: values.endsAt,
  hint: 'In the time zone of the task. Its last run is the one before this.',
  errors,
})}
${renderInput({
  name: 'maxRuns',
  label: 'Stops after, in planned runs',
  type: 'number',
  value: values.maxRuns,
  attributes: raw('min="1" max="1000000"'),
  hint: 'Runs that you start do not count.',
  errors,
})}
${renderInput({
  name: 'monthlyBudgetUsd',
  label: 'Budget of a month, in $',
  type: 'number',
  value: values.monthlyBudgetUsd,
  attributes: raw('min="0" max="1000000" step="any"'),
  hint: 'A run that may cost more than what is left does not take place. Months begin at midnight UTC.',
  errors,
})}
</div>`;
