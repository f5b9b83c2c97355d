const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  formatters.set(timeZone, made);
  return made;
}

/** `2026-11-20T10:00`, the value of a field of local time. */
export const toLocalTime = (at: Date, timeZone: string): string => formatter(timeZone).format(at).replace(' ', 'T');

/** The instant at which clocks of the zone show `text`; null if it is no local time. A time in a gap moves forward. */
export function parseLocalTime(text: string, timeZone: string): Date | null {
  const wall = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  if (Number.isNaN(wall)) return null;
  const offsetAt = (at: number) =>
    Date.parse(`${toLocalTime(new Date(at), timeZone)}Z`) - Math.floor(at / 60_000) * 60_000;
  const offsets = [offsetAt(wall - 86_400_000), offsetAt(wall + 86_400_000)];
  const exact = offsets.map((offset) => wall - offset).find((at) => at + offsetAt(at) === wall);
  return new Date(exact ?? wall - (offsets[0] ?? 0));
}
