import type { ChannelKind } from '@carillon/contract/channels/channels';
import { canonicalTimeZone, listTimeZones } from '@carillon/contract/validation/formats';
import { renderRadios, renderTick } from '../../components/choices.ts';
import { type FormErrors, renderField, renderInput, renderSelect } from '../../components/fields.ts';
import { countWords } from '../../components/format.ts';
import { EMPTY, type Html, html, raw } from '../../html.ts';

export const OPTION_NAMES = [
  'quietFrom',
  'quietTo',
  'quietTimezone',
  'minIntervalMinutes',
  'digest',
  'digestHour',
  'digestTimezone',
  'urgent',
] as const;
export type OptionName = (typeof OPTION_NAMES)[number];
type OptionValues = Record<OptionName, string>;

/** What is stored, of the options. */
interface Options {
  quiet: { from: string; to: string; timezone: string } | null;
  minIntervalMinutes: number | null;
  digest: 'off' | 'hourly' | 'daily';
  digestHour: number | null;
  digestTimezone: string | null;
  urgent: boolean;
}

const START_HOUR = 8;

/** The fields of the options, of a channel or of a new one. */
export const toOptionValues = (timeZone: string, options?: Options): OptionValues => ({
  quietFrom: options?.quiet?.from ?? '',
  quietTo: options?.quiet?.to ?? '',
  quietTimezone: options?.quiet?.timezone ?? timeZone,
  minIntervalMinutes: options?.minIntervalMinutes ? String(options.minIntervalMinutes) : '',
  digest: options?.digest ?? 'off',
  digestHour: String(options?.digestHour ?? START_HOUR),
  digestTimezone: options?.digestTimezone ?? timeZone,
  urgent: options?.urgent ? 'on' : '',
});

/** Numbers that are none are refused by the action. */
const toNumber = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : (text as never));

/** The options as an action takes them. */
export function readOptions(kind: ChannelKind, values: OptionValues) {
  const { quietFrom, quietTo, quietTimezone, minIntervalMinutes, digest, digestHour, digestTimezone, urgent } = values;
  const hasQuiet = quietFrom !== '' || quietTo !== '';
  return {
    quiet: hasQuiet ? { from: quietFrom, to: quietTo, timezone: quietTimezone } : null,
    minIntervalMinutes: minIntervalMinutes === '' ? null : toNumber(minIntervalMinutes),
    urgent: urgent !== '',
    ...(kind === 'email' && { digest: digest as Options['digest'] }),
    ...(kind === 'email' && digest === 'daily' && { digestHour: toNumber(digestHour), digestTimezone }),
  };
}

const pad = (hour: number | string) => `${hour}`.padStart(2, '0');

/** `Europe/Berlin` as `Berlin time` */
export const namePlace = (timeZone: string): string => `${timeZone.split('/').at(-1)?.replaceAll('_', ' ')} time`;

export const describeQuiet = ({ from, to, timezone }: NonNullable<Options['quiet']>): string =>
  `${from} to ${to}, ${namePlace(timezone)}`;

export const describeInterval = (minutes: number): string =>
  `at most one every ${minutes === 1 ? 'minute' : countWords(minutes, 'minute')}`;

/** Null without a digest. */
export function describeDigest({ digest, digestHour, digestTimezone }: Omit<Options, 'quiet'>): string | null {
  if (digest === 'off') return null;
  if (digest === 'hourly') return 'one mail an hour';
  return `one mail a day at ${pad(digestHour ?? START_HOUR)}:00, ${namePlace(digestTimezone ?? 'UTC')}`;
}

const regions = listTimeZones().slice(1);
/** The same for all users, and long: it is built once. */
const allZones = raw(['UTC', ...regions].map((zone) => `<option>${zone}</option>`).join(''));

const renderZone = (name: 'quietTimezone' | 'digestTimezone', value: string, errors: FormErrors): Html =>
  renderField({ name, label: 'By the clock of', errors }, (attributes) => {
    const isZone = canonicalTimeZone(value) !== null;
    return html`<select ${attributes}>${isZone && html`<option selected>${value}</option>`}${allZones}</select>`;
  });

interface Group {
  id: string;
  title: string;
  said: string;
  isOpen: boolean;
  content: Html;
}

const renderGroup = ({ id, title, said, isOpen, content }: Group): Html =>
  html`<details id="${id}"${isOpen && raw(' open')}><summary><b>${title}</b> <span class="said">${said}</span></summary><div class="gap">${content}</div></details>`;

const DIGESTS = [
  { value: 'off', text: 'A mail for each message' },
  { value: 'hourly', text: 'One mail an hour', hint: 'With everything that came. None if nothing came.' },
  { value: 'daily', text: 'One mail a day', hint: 'With everything that came since the day before.' },
];
const HOURS = Array.from({ length: 24 }, (_, hour) => ({ value: String(hour), text: `${pad(hour)}:00` }));

const renderDigest = (values: OptionValues, errors: FormErrors): Html => html`<div class="gap digest">
${renderRadios({ name: 'digest', legend: 'How many mails', choices: DIGESTS, value: values.digest, errors })}
<div class="sentence tops on-daily">${renderSelect({ name: 'digestHour', label: 'Once a day at', options: HOURS, value: values.digestHour, errors })}
${renderZone('digestTimezone', values.digestTimezone, errors)}</div></div>`;

/** When messages may come. What is set, or refused, stands open. */
export function renderOptions(kind: ChannelKind, values: OptionValues, errors: FormErrors): Html {
  const isRefused = (...names: OptionName[]) => names.some((name) => errors.fields[name]);
  const hasQuiet = values.quietFrom !== '' || values.quietTo !== '';
  const hasInterval = values.minIntervalMinutes !== '';
  return html`<section class="gap" aria-labelledby="when"><h2 id="when">When it sends</h2>
${kind === 'email' ? renderDigest(values, errors) : EMPTY}
<div class="groups">${renderGroup({
    id: 'quiet',
    title: 'Quiet hours',
    said: 'none',
    isOpen: hasQuiet || isRefused('quietFrom', 'quietTo', 'quietTimezone'),
    content: html`<p class="muted">Nothing is sent in these hours. What comes meanwhile is kept, and sent as one message after them.</p>
<div class="sentence tops">${renderInput({ name: 'quietFrom', label: 'From', type: 'time', value: values.quietFrom, errors })}
${renderInput({ name: 'quietTo', label: 'To', type: 'time', value: values.quietTo, errors })}
${renderZone('quietTimezone', values.quietTimezone, errors)}</div>`,
  })}${renderGroup({
    id: 'interval',
    title: 'Time between two messages',
    said: 'any',
    isOpen: hasInterval || isRefused('minIntervalMinutes'),
    content: html`<p class="muted">After a message nothing is sent for so long. What comes meanwhile is sent as one message.</p>
${renderInput({
  name: 'minIntervalMinutes',
  label: 'Minutes',
  type: 'number',
  value: values.minIntervalMinutes,
  errors,
  attributes: raw('class="short" min="1" max="1440"'),
})}`,
  })}</div>
<div class="ticks">${renderTick('urgent', values.urgent !== '', 'Send alarms at once', 'Also in quiet hours and between digests: that a task is overdue, failing, expensive or slow.')}</div>
</section>`;
}
