import { canonicalTimeZone, listTimeZones } from '@carillon/contract/validation/formats';
import { type Html, html, raw } from '../../../html.ts';

const regions = Map.groupBy(listTimeZones().slice(1), (zone) => zone.split('/')[0] ?? '');

/** The same for all users, and long: it is built once. */
const allZones = html`${[...regions].map(
  ([region, zones]) =>
    html`<optgroup label="${region}">${zones.map((zone) => html`<option>${zone}</option>`)}</optgroup>`,
)}`;

/** The zone that is chosen, those that are likely, and all others. */
export function renderZones(chosen: string, likely: readonly string[]): Html {
  const first = [...new Set([chosen, ...likely, 'UTC'])].filter((zone) => canonicalTimeZone(zone) !== null);
  return html`${first.map((zone) => html`<option${zone === chosen && raw(' selected')}>${zone}</option>`)}${allZones}`;
}
