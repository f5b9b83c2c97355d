import { canonicalTimeZone } from '@carillon/contract/validation/formats';
import { renderZone, ZONES_BY_REGION } from '../../../components/time-zones.ts';
import { type Html, html } from '../../../html.ts';

/** The zone that is chosen, those that are likely, and all others. */
export function renderZones(chosen: string, likely: readonly string[]): Html {
  const first = new Map(
    [chosen, ...likely, 'UTC']
      .map((zone) => [canonicalTimeZone(zone), zone] as const)
      .filter(([zone]) => zone !== null)
      .reverse(),
  );
  return html`${[...first.values()].reverse().map((zone) => renderZone(zone, zone === chosen))}${ZONES_BY_REGION}`;
}
