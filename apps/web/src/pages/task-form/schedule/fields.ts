import { type FormErrors, renderError, renderField, renderInput, renderSelect } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { ScheduleValues } from '../form-values.ts';
import { describePlan, type Plan } from './plan.ts';
import { renderZones } from './zones.ts';

const EVERY = [
  { value: 'minute', text: 'some minutes' },
  { value: 'hour', text: 'hour or some hours' },
  { value: 'day', text: 'day' },
  { value: 'week', text: 'week' },
  { value: 'month', text: 'month' },
  { value: 'once', text: 'once only' },
];

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const toOptions = (numbers: readonly number[]) => numbers.map((number) => ({ value: `${number}`, text: `${number}` }));

const MINUTES = toOptions([1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30]);
const HOURS = toOptions([1, 2, 3, 4, 6, 8, 12]);
const HOURS_OF_DAY = [
  { value: '', text: 'any' },
  ...Array.from({ length: 24 }, (_, hour) => ({ value: `${hour}`, text: `${hour} h` })),
];
const DAYS = [
  ...toOptions(Array.from({ length: 28 }, (_, index) => index + 1)),
  { value: '29+', text: '29, or the last day of February' },
  { value: '30+', text: '30, or the last day of February' },
  { value: 'last', text: 'the last day' },
  ...[29, 30, 31].map((day) => ({ value: `${day}`, text: `${day}, in months that have it` })),
];

const isIn = (names: string, control: Html) => html`<div class="${names}">${control}</div>`;

function renderWeekdays({ weekdays }: ScheduleValues, errors: FormErrors): Html {
  const messages = errors.fields.weekday ?? [];
  return html`<fieldset class="field on-week" id="weekdays"${messages.length > 0 && raw(' aria-describedby="weekday-error"')}><legend>on</legend>
<div class="choice days-of-week">${WEEKDAYS.map(
    (name, index) =>
      html`<label><input type="checkbox" name="weekday" value="${index + 1}"${weekdays.includes(`${index + 1}`) && raw(' checked')}><abbr title="${name}">${name.slice(0, 2)}</abbr></label>`,
  )}</div>${messages.length > 0 && renderError('weekday-error', messages)}</fieldset>`;
}

/** The fields that say a schedule in words. `isSwapped` replaces those of the page. */
export function renderRecurrence(values: ScheduleValues, errors: FormErrors, isSwapped = false): Html {
  const select = (name: keyof ScheduleValues & string, label: string, options: typeof EVERY) =>
    renderSelect({ name, label, options, value: values[name] as string, errors });
  return html`<div class="by-words" id="words"${isSwapped && raw(' hx-swap-oob="true"')}><div class="sentence tops">
${select('every', 'Every', EVERY)}
${isIn('on-minute', select('minutes', 'minutes', MINUTES))}
${isIn('on-hour', select('hours', 'hours', HOURS))}
${isIn('on-hour', renderInput({ name: 'minute', label: 'at minute', type: 'number', value: values.minute, attributes: raw('min="0" max="59"'), errors }))}
${isIn('on-hour', select('from', 'from', HOURS_OF_DAY))}
${isIn('on-hour', select('until', 'until', HOURS_OF_DAY))}
${renderWeekdays(values, errors)}
${isIn('on-month', select('day', 'on day', DAYS))}
${isIn('on-once', renderInput({ name: 'date', label: 'on', type: 'date', value: values.date, errors }))}
${isIn('on-time', renderInput({ name: 'at', label: 'at', type: 'time', value: values.at, errors }))}
</div></div>`;
}

/** The field of the pattern. */
export const renderPattern = (values: ScheduleValues, errors: FormErrors, isSwapped = false): Html =>
  html`<div class="by-cron" id="by-cron"${isSwapped && raw(' hx-swap-oob="true"')}>${renderInput({
    name: 'cron',
    label: 'Five fields: minute, hour, day, month, weekday',
    hint: html`Day and weekday mean either, or both where one begins with <code>*</code>. <code>L</code> is the last day, <code>FRI#2</code> the second Friday.`,
    value: values.cron,
    attributes: raw('spellcheck="false" autocapitalize="off" maxlength="256"'),
    errors,
  })}</div>`;

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The schedule in one sentence, and in the other form. */
export function renderSentence(values: ScheduleValues, plan: Plan, isSwapped = false): Html {
  const { words, cron, problems } = plan;
  const zone = values.timezone;
  const isCron = values.mode === 'cron';
  const parts = [];
  if (Object.keys(problems).length > 0) parts.push(html`<span class="muted">Not clear yet when it runs.</span>`);
  else if (words?.every === 'once') parts.push(html`<b>Once, ${zone} time.</b>`);
  else if (words) parts.push(html`<b>${capitalize(describePlan(plan))}, ${zone} time.</b>`);
  else parts.push(html`<b>This pattern has no words here, so it stays as cron.</b> It is valid: see when it will run.`);
  if (!isCron && cron !== null)
    parts.push(html`<span class="muted">As cron: <code class="tight">${cron}</code></span>`);
  if (!isCron && words && words.every !== 'once' && cron === null) {
    parts.push(html`<span class="muted">Cron cannot say the last day of a shorter month.</span>`);
  }
  return html`<p id="said"${isSwapped && raw(' hx-swap-oob="true"')}>${parts.map((part) => html`${part} `)}</p>`;
}

/** When it runs. The fields of both forms are always there; styles show the fields of the chosen one. */
export function renderScheduleFields(
  values: ScheduleValues,
  plan: Plan,
  likelyZones: readonly string[],
  errors: FormErrors,
): Html {
  const mode = (value: ScheduleValues['mode'], text: string) =>
    html`<label><input type="radio" name="mode" value="${value}"${values.mode === value && raw(' checked')}>${text}</label>`;
  return html`<section class="gap schedule" id="schedule" aria-labelledby="when" hx-get="/tasks/new/runs" hx-trigger="change, input delay:400ms, change from:#limits, input from:#limits delay:400ms" hx-include="#schedule, #limits" hx-target="#runs" hx-swap="innerHTML" hx-sync="this:replace"><h2 id="when">When</h2>
<fieldset><legend class="vh">Say when in</legend><div class="choice">${mode('words', 'Words')}${mode('cron', 'Cron')}</div></fieldset>
${renderRecurrence(values, errors)}
${renderPattern(values, errors)}
${renderField(
  { name: 'timezone', label: 'Time zone', errors },
  (attributes) => html`<select ${attributes}>${renderZones(values.timezone, likelyZones)}</select>`,
)}
${renderSentence(values, plan)}
</section>`;
}
