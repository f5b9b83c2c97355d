import { renderChoice, renderRadios } from '../../../components/choices.ts';
import { renderInput } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { SectionProps } from './section-props.ts';

const MISSED = [
  { value: 'latest', text: 'Run once', hint: 'One run makes up for all of them.' },
  { value: 'none', text: 'Leave them out', hint: 'The task goes on with its next planned run.' },
  { value: 'all', text: 'Run each of them', hint: 'The latest 10 at most, each for its own time.' },
];

const OVERLAP = [
  { value: 'skip', text: 'Skip it', hint: 'The run under way goes on.' },
  { value: 'queue', text: 'Let it wait', hint: 'It starts once the run under way has ended. At most one waits.' },
  { value: 'cancel', text: 'Stop the run under way', hint: 'Its answer is lost, its tokens still count.' },
];

const RETRIES = [
  { value: '0', text: 'Never' },
  { value: '1', text: 'Once' },
  { value: '2', text: 'Twice' },
  { value: '3', text: '3 times' },
];

/** What happens to runs that are missed, late or failed. */
export const renderErrorHandling = ({ values, errors }: SectionProps): Html =>
  html`${renderRadios({ name: 'missed', legend: 'Runs were missed because Carillon was down', choices: MISSED, value: values.missed, errors })}
${renderRadios({ name: 'overlap', legend: 'A run is due while another one is under way', choices: OVERLAP, value: values.overlap, errors })}
${renderChoice({ name: 'maxRetries', legend: 'Try a failed run again', choices: RETRIES, value: values.maxRetries, errors })}
${renderInput({
  name: 'timeoutMs',
  label: 'Give up after, in seconds',
  type: 'number',
  value: values.timeoutMs,
  attributes: raw('class="short" min="1" max="3600" step="any"'),
  hint: 'Empty for the limit of this server.',
  errors,
})}`;
