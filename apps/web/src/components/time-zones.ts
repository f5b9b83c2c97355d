import { listTimeZones } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import { EMPTY, type Html, html, raw } from '../html.ts';
import { ASSET_URLS } from '../http/assets.ts';
import { type FormErrors, renderField } from './fields.ts';

const OPTIONS = raw(
  listTimeZones()
    .map((zone) => `<option>${zone}</option>`)
    .join(''),
);

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
        value === null ? EMPTY : html`<option selected>${value}</option>`
      }${OPTIONS}</select>`,
  )}${value === null && html`<script src="${ASSET_URLS.timeZone}" defer></script>`}`;
