import { currentTimeZone } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import {
  type FormErrors,
  type Option,
  renderError,
  renderField,
  renderInput,
  renderSelect,
} from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { ScheduleValues } from '../form-values.ts';
import { describePlan, type Plan } from './plan.ts';
import { renderZones } from './zones.ts';

const toOptions = (numbers: readonly number[]) => numbers.map((number) => ({ value: `${number}`, text: `${number}` }));

const MINUTES = toOptions([1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30]);
const HOURS = toOptions([1, 2, 3, 4, 6, 8, 12]);
const MAX_INTERVAL = 31;
const HOURS_OF_DAY = 24;
const range = (length: number, from: number) => Array.from({ length }, (_, index) => index + from);

const isIn = (names: string, control: Html) => html`<div class="${names}">${control}</div>`;

function renderWeekdays({ weekdays }: ScheduleValues, errors: FormErrors, { taskForm }: Texts): Html {
  const messages = errors.fields.weekday ?? [];
  return html`<fieldset class="field on-week" id="weekdays"${messages.length > 0 && raw(' aria-describedby="weekday-error"')}><legend>${taskForm.onDays}</legend>
<div class="choice days-of-week">${taskForm.days.map(
    ([name, short], index) =>
      html`<label><input type="checkbox" name="weekday" value="${index + 1}"${weekdays.includes(`${index + 1}`) && raw(' checked')}><abbr title="${name}">${short}</abbr></label>`,
  )}</div>${messages.length > 0 && renderError('weekday-error', messages)}</fieldset>`;
}

/** The fields that say a schedule in words. `isSwapped` replaces those of the page. */
export function renderRecurrence(values: ScheduleValues, errors: FormErrors, texts: Texts, isSwapped = false): Html {
  const { taskForm } = texts;
  const intervals = Object.entries(taskForm.intervals).map(([value, text]) => ({ value, text }));
  const hours = range(HOURS_OF_DAY, 0).map((hour) => ({ value: `${hour}`, text: taskForm.hour(hour) }));
  const hoursOfDay = [{ value: '', text: taskForm.anyHour }, ...hours];
  const most = Math.max(MAX_INTERVAL, Number(values.interval) || 1);
  const repeats = range(most, 1).map((count) => ({ value: `${count}`, text: taskForm.repeat(count) }));
  const nths = [
    { value: '', text: taskForm.dayOfMonth },
    ...taskForm.nths.map((text, index) => ({ value: `${index + 1}`, text })),
    { value: 'last', text: taskForm.lastOf },
  ];
  const weekdays = taskForm.days.map(([text], index) => ({ value: `${index + 1}`, text }));
  const days = [
    ...toOptions(range(28, 1)),
    ...[29, 30].map((day) => ({ value: `${day}+`, text: taskForm.dayOrLast(day) })),
    { value: 'last', text: taskForm.lastDay },
    ...[29, 30, 31].map((day) => ({ value: `${day}`, text: taskForm.dayOfLongMonths(day) })),
  ];
  const select = (name: keyof ScheduleValues & string, label: string, options: readonly Option[]) =>
    renderSelect({ name, label, options, value: values[name] as string, errors });
  return html`<div class="by-words" id="words"${isSwapped && raw(' hx-swap-oob="true"')}><div class="sentence tops">
${select('every', taskForm.every, intervals)}
${isIn('on-interval', select('interval', taskForm.interval, repeats))}
${isIn('on-minute', select('minutes', taskForm.minutes, MINUTES))}
${isIn('on-hour', select('hours', taskForm.hours, HOURS))}
${isIn('on-hour', renderInput({ name: 'minute', label: taskForm.atMinute, type: 'number', value: values.minute, attributes: raw('min="0" max="59"'), errors }))}
${isIn('on-hour', select('from', taskForm.from, hoursOfDay))}
${isIn('on-hour', select('until', taskForm.until, hoursOfDay))}
${renderWeekdays(values, errors, texts)}
${isIn('on-month', select('nth', taskForm.onDays, nths))}
${isIn('on-month on-nth', select('nthDay', taskForm.weekday, weekdays))}
${isIn('on-month on-number', select('day', taskForm.onDay, days))}
${isIn('on-date', renderInput({ name: 'date', label: taskForm.onDate, type: 'date', value: values.date, errors }))}
${isIn('on-time', renderInput({ name: 'at', label: taskForm.at, type: 'time', value: values.at, errors }))}
${isIn('on-again', select('again', taskForm.again, [{ value: '', text: taskForm.noAgain }, ...hours]))}
</div></div>`;
}

/** The field of the pattern. */
export const renderPattern = (
  values: ScheduleValues,
  errors: FormErrors,
  { taskForm }: Texts,
  isSwapped = false,
): Html =>
  html`<div class="by-cron" id="by-cron"${isSwapped && raw(' hx-swap-oob="true"')}>${renderInput({
    name: 'cron',
    label: taskForm.pattern,
    hint: html`${taskForm.patternHint((text) => html`<code>${text}</code>`)}`,
    value: values.cron,
    attributes: raw('spellcheck="false" autocapitalize="off" maxlength="256"'),
    errors,
  })}</div>`;

/** The schedule in one sentence, and in the other form. */
export function renderSentence(values: ScheduleValues, plan: Plan, texts: Texts, isSwapped = false): Html {
  const { taskForm } = texts;
  const { words, cron, problems } = plan;
  const zone = values.timezone;
  const isCron = values.mode === 'cron';
  const parts = [];
  if (Object.keys(problems).length > 0) parts.push(html`<span class="muted">${taskForm.noSchedule}</span>`);
  else if (words) parts.push(html`<b>${taskForm.inZone(describePlan(plan, texts), currentTimeZone(zone))}</b>`);
  else parts.push(html`<b>${taskForm.validPattern}</b>`);
  if (!isCron && cron !== null)
    parts.push(html`<span class="muted">${taskForm.asCron(html`<code class="tight">${cron}</code>`)}</span>`);
  if (!isCron && words && words.every !== 'once' && cron === null) {
    parts.push(html`<span class="muted">${taskForm.noCron}</span>`);
  }
  return html`<p id="said"${isSwapped && raw(' hx-swap-oob="true"')}>${parts.map((part) => html`${part} `)}</p>`;
}

/** When it runs. The fields of both forms are always there; styles show the fields of the selected one. */
export function renderScheduleFields(
  values: ScheduleValues,
  plan: Plan,
  likelyZones: readonly string[],
  errors: FormErrors,
  texts: Texts,
): Html {
  const { taskForm } = texts;
  const mode = (value: ScheduleValues['mode'], text: string) =>
    html`<label><input type="radio" name="mode" value="${value}"${values.mode === value && raw(' checked')}>${text}</label>`;
  return html`<section class="gap schedule" id="schedule" aria-labelledby="when" hx-post="/tasks/new/runs" hx-trigger="change from:#task-form, input delay:400ms, input from:#limits delay:400ms" hx-target="#runs" hx-swap="innerHTML" hx-sync="this:replace"><h2 id="when">${taskForm.schedule}</h2>
<fieldset><legend class="vh">${taskForm.scheduleFormat}</legend><div class="choice">${mode('words', taskForm.words)}${mode('cron', taskForm.cron)}</div></fieldset>
${renderRecurrence(values, errors, texts)}
${renderPattern(values, errors, texts)}
${renderSentence(values, plan, texts)}
<details${errors.fields.timezone && raw(' open')}><summary>${taskForm.fields.timezone} <span class="said">${currentTimeZone(values.timezone)}</span></summary>${renderField(
    { name: 'timezone', label: taskForm.fields.timezone, errors },
    (attributes) => html`<select ${attributes}>${renderZones(values.timezone, likelyZones)}</select>`,
  )}</details>
</section>`;
}
