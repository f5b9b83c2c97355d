/** Equal values have equal keys, whatever the order of their fields. */
export function toKey(value: unknown): string {
  // Minus zero equals zero.
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toKey).join()}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toKey(field)}`).join()}}`;
}
