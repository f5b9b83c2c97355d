/** Such as `24 Nov 2026, 05:28 (Europe/Berlin)`. */
export function formatInstant(at: Date, timeZone: string): string {
  const text = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' }).format(at);
  return `${text} (${timeZone})`;
}
