import { renderChoice, renderRadios } from '../../../components/choices.ts';
import { renderInput, renderTextarea } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { SectionProps } from './section-props.ts';

const RETRIES = ['0', '1', '2', '3'];

/** What happens to runs that are missed, late or failed. */
export function renderErrorHandling({ values, errors, texts: { taskForm } }: SectionProps): Html {
  const missed = [
    { value: 'latest', text: taskForm.missedLatest, hint: taskForm.missedLatestHint },
    { value: 'none', text: taskForm.missedNone, hint: taskForm.missedNoneHint },
    { value: 'all', text: taskForm.missedAll, hint: taskForm.missedAllHint },
  ];
  const overlap = [
    { value: 'skip', text: taskForm.overlapSkip, hint: taskForm.overlapSkipHint },
    { value: 'queue', text: taskForm.overlapQueue, hint: taskForm.overlapQueueHint },
    { value: 'cancel', text: taskForm.overlapCancel, hint: taskForm.overlapCancelHint },
  ];
  const retries = RETRIES.map((value) => ({ value, text: value === '0' ? taskForm.noRetries : value }));
  return html`${renderTextarea({
    name: 'fallbackModels',
    label: taskForm.fields.fallbackModels,
    value: values.fallbackModels,
    rows: 2,
    attributes: raw('class="code" spellcheck="false" autocapitalize="off" autocomplete="off"'),
    hint: taskForm.fallbackModelsHint,
    errors,
  })}
${renderRadios({ name: 'missed', legend: taskForm.missed, choices: missed, value: values.missed, errors })}
${renderRadios({ name: 'overlap', legend: taskForm.overlap, choices: overlap, value: values.overlap, errors })}
${renderChoice({ name: 'maxRetries', legend: taskForm.retries, choices: retries, value: values.maxRetries, errors })}
${renderInput({
  name: 'timeoutMs',
  label: taskForm.timeLimit,
  type: 'number',
  value: values.timeoutMs,
  attributes: raw('class="short" min="1" max="3600" step="any"'),
  hint: taskForm.timeLimitHint,
  errors,
})}`;
}
