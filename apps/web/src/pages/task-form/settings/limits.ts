import { renderInput } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { SectionProps } from './section-props.ts';

/** When the task stops, and what it may cost. */
export const renderLimits = ({ values, errors, formData: { task }, texts: { taskForm } }: SectionProps): Html =>
  html`${task && html`<input type="hidden" name="plannedRuns" value="${task.plannedRuns}">`}<div class="pairs">
${renderInput({
  name: 'pausedUntil',
  label: taskForm.pausedUntil,
  type: 'datetime-local',
  value: values.pausedUntil,
  hint: taskForm.pausedUntilHint,
  errors,
})}
${renderInput({
  name: 'endsAt',
  label: taskForm.endsAt,
  type: 'datetime-local',
  value: values.endsAt,
  hint: taskForm.endsAtHint,
  errors,
})}
${renderInput({
  name: 'maxRuns',
  label: taskForm.maxRuns,
  type: 'number',
  value: values.maxRuns,
  attributes: raw('min="1" max="1000000"'),
  hint: taskForm.maxRunsHint,
  errors,
})}
${renderInput({
  name: 'monthlyBudgetUsd',
  label: taskForm.budget,
  type: 'number',
  value: values.monthlyBudgetUsd,
  attributes: raw('min="0" max="1000000" step="any"'),
  hint: taskForm.budgetHint,
  errors,
})}
</div>`;
