import { canonicalTimeZone, currentTimeZone, listTimeZones } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import { EMPTY, type Html, html, raw } from '../html.ts';
import { ASSET_URLS } from '../http/assets.ts';
import { type FormErrors, renderField } from './fields.ts';

/** Browsers may know a zone by its earlier name only. */
const renderOption = (zone: string): string => {
  const earlier = canonicalTimeZone(zone);
  return `<option${earlier === null || earlier === zone ? '' : ` data-earlier="${earlier}"`}>${zone}</option>`;
};

const [utc = '', ...regions] = listTimeZones();

/** All zones, the same for all users: it is built once. */
export const ALL_ZONES = raw([utc, ...regions].map(renderOption).join(''));

/** The same by continent, without UTC. */
export const ZONES_BY_REGION = raw(
  [...Map.groupBy(regions, (zone) => zone.split('/')[0] ?? '')]
    .map(([region, zones]) => `<optgroup label="${region}">${zones.map(renderOption).join('')}</optgroup>`)
    .join(''),
);

/** A zone that is stored keeps its name, and is shown by the one of today. */
export const renderZone = (zone: string, isChosen: boolean): Html =>
  html`<option value="${zone}"${isChosen && raw(' selected')}>${currentTimeZone(zone)}</option>`;

interface TimeZoneOptions {
  /** Null if there is none yet: a script then chooses the zone of the device. */
  value: string | null;
  errors: FormErrors;
  texts: Texts;
  hint?: Html | string;
}

/** The field `timezone`. The present zone comes first, so that the rest of the list is the same for all users. */
export const renderTimeZoneField = ({ value, errors, hint, texts }: TimeZoneOptions): Html =>
  html`${renderField(
    { name: 'timezone', label: texts.account.timeZone, errors, ...(hint !== undefined && { hint }) },
    (attributes) =>
      html`<select ${attributes}${value === null && raw(' data-guess')}>${
        value === null ? EMPTY : renderZone(value, true)
      }${ALL_ZONES}</select>`,
  )}${value === null && html`<script src="${ASSET_URLS.timeZone}" defer></script>`}`;
