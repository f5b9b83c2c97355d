// Excludes bare offsets, and non-ASCII letters that could equal a known name in lower case.
const IANA_NAME = /^[a-z][\w+/-]{0,63}$/i;
// ICU accepts these as well, but they are not IANA names, and BST would mean Dhaka.
const ICU_ONLY = /^(?:(?:AC|AE|AG|AR|AS|BE|BS|CA|CN|CS|CT|EA|EC|IE|IS|JS|MI|NE|NS|PL|PN|PR|PS|SS|VS)T|SystemV\/.*)$/i;

// Holds only accepted names in lower case, so its size is bounded by the number of zones.
const accepted = new Map<string, string>();

/**
 * The canonical spelling of an IANA time zone name in any letter case; null for anything else. Tries the name, because
 * `Intl.supportedValuesOf` leaves out UTC and Asia/Kolkata.
 */
export function canonicalTimeZone(name: string): string | null {
  if (!IANA_NAME.test(name) || ICU_ONLY.test(name)) return null;
  const key = name.toLowerCase();
  const known = accepted.get(key);
  if (known !== undefined) return known;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    accepted.set(key, timeZone);
    return timeZone;
  } catch {
    return null;
  }
}

/** Whether `name` is an IANA time zone name in any letter case. Offsets (`+05:00`) and abbreviations (`PST`) are not. */
export const isTimeZone = (name: string): boolean => canonicalTimeZone(name) !== null;
