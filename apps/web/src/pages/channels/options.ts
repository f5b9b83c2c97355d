import type { ChannelKind } from '@carillon/contract/channels/channels';
import { canonicalTimeZone } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import { renderRadios, renderTick } from '../../components/choices.ts';
import { type FormErrors, renderField, renderInput, renderSelect } from '../../components/fields.ts';
import { formatZone } from '../../components/schedule/render.ts';
import { ALL_ZONES, renderZone } from '../../components/time-zones.ts';
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
const namePlace = ({ schedule }: Texts, timeZone: string): string => schedule.zoneTime(formatZone(timeZone));

export const describeQuiet = (texts: Texts, { from, to, timezone }: NonNullable<Options['quiet']>): string =>
  texts.channels.quiet(from, to, namePlace(texts, timezone));

/** Null without a digest. */
export function describeDigest(texts: Texts, options: Omit<Options, 'quiet'>): string | null {
  const { digest, digestHour, digestTimezone } = options;
  if (digest === 'off') return null;
  if (digest === 'hourly') return texts.channels.digestHourly;
  return texts.channels.digestDailyAt(`${pad(digestHour ?? START_HOUR)}:00`, namePlace(texts, digestTimezone ?? 'UTC'));
}

function renderZoneField(
  texts: Texts,
  name: 'quietTimezone' | 'digestTimezone',
  value: string,
  errors: FormErrors,
): Html {
  return renderField({ name, label: texts.channels.timeZone, errors }, (attributes) => {
    const isZone = canonicalTimeZone(value) !== null;
    return html`<select ${attributes}>${isZone && renderZone(value, true)}${ALL_ZONES}</select>`;
  });
}

interface Group {
  id: string;
  title: string;
  summary: string;
  isOpen: boolean;
  content: Html;
}

const renderGroup = ({ id, title, summary, isOpen, content }: Group): Html =>
  html`<details id="${id}"${isOpen && raw(' open')}><summary><b>${title}</b> <span class="said">${summary}</span></summary><div class="gap">${content}</div></details>`;

const HOURS = Array.from({ length: 24 }, (_, hour) => ({ value: String(hour), text: `${pad(hour)}:00` }));

function renderDigest(texts: Texts, values: OptionValues, errors: FormErrors): Html {
  const { channels } = texts;
  const choices = [
    { value: 'off', text: channels.digestOff },
    { value: 'hourly', text: channels.digestHourly, hint: channels.digestHourlyHint },
    { value: 'daily', text: channels.digestDaily, hint: channels.digestDailyHint },
  ];
  return html`<div class="gap digest">
${renderRadios({ name: 'digest', legend: channels.digest, choices, value: values.digest, errors })}
<div class="sentence tops on-daily">${renderSelect({ name: 'digestHour', label: channels.digestTime, options: HOURS, value: values.digestHour, errors })}
${renderZoneField(texts, 'digestTimezone', values.digestTimezone, errors)}</div></div>`;
}

/** When messages may come. What is set, or refused, stands open. */
export function renderOptions(texts: Texts, kind: ChannelKind, values: OptionValues, errors: FormErrors): Html {
  const { channels } = texts;
  const isRefused = (...names: OptionName[]) => names.some((name) => errors.fields[name]);
  const hasQuiet = values.quietFrom !== '' || values.quietTo !== '';
  const hasInterval = values.minIntervalMinutes !== '';
  return html`<section class="gap" aria-labelledby="when"><h2 id="when">${channels.timing}</h2>
${kind === 'email' ? renderDigest(texts, values, errors) : EMPTY}
<div class="groups">${renderGroup({
    id: 'quiet',
    title: channels.quietHours,
    summary: channels.none,
    isOpen: hasQuiet || isRefused('quietFrom', 'quietTo', 'quietTimezone'),
    content: html`<p class="muted">${channels.quietHint}</p>
<div class="sentence tops">${renderInput({ name: 'quietFrom', label: channels.quietFrom, type: 'time', value: values.quietFrom, errors })}
${renderInput({ name: 'quietTo', label: channels.quietTo, type: 'time', value: values.quietTo, errors })}
${renderZoneField(texts, 'quietTimezone', values.quietTimezone, errors)}</div>`,
  })}${renderGroup({
    id: 'interval',
    title: channels.interval,
    summary: channels.none,
    isOpen: hasInterval || isRefused('minIntervalMinutes'),
    content: html`<p class="muted">${channels.intervalHint}</p>
${renderInput({
  name: 'minIntervalMinutes',
  label: channels.minutes,
  type: 'number',
  value: values.minIntervalMinutes,
  errors,
  attributes: raw('class="short" min="1" max="1440"'),
})}`,
  })}</div>
<div class="ticks">${renderTick('urgent', values.urgent !== '', channels.urgent, channels.urgentHint)}</div>
</section>`;
}
