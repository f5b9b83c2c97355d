// Bare offsets begin with a sign; a letter beyond ASCII might equal a known name in lower case.
const IANA_NAME = /^[a-z][\w+/-]{0,63}$/i;
// ICU knows these too, but they are no IANA names, and BST would mean Dhaka.
const ICU_ONLY = /^(?:(?:AC|AE|AG|AR|AS|BE|BS|CA|CN|CS|CT|EA|EC|IE|IS|JS|MI|NE|NS|PL|PN|PR|PS|SS|VS)T|SystemV\/.*)$/i;

// Accepted names only, in lower case: as many as there are zones, whatever is asked.
const accepted = new Map<string, string>();

/**
 * The one spelling of an IANA time zone name that is given in any letter case; null for anything else. A name is good
 * when it works: `Intl.supportedValuesOf` leaves out UTC and Asia/Kolkata.
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

/**
 * Whether `name` is an IANA time zone name, in any letter case (specification "Task", `timezone`; decisions §5).
 * Bare offsets such as `+05:00` and abbreviations such as `PST` are not.
 */
export const isTimeZone = (name: string): boolean => canonicalTimeZone(name) !== null;
