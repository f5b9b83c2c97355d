import { MAX_ID } from '../primitives.ts';

/** The formats of the contract, each with the message of a value that does not match. */
export const FORMATS: Record<string, { accepts: (value: string) => boolean; message: string }> = {
  'date-time': {
    accepts: isInstant,
    message: 'must be an ISO 8601 date-time with Z or an offset, of the years 1970 to 9999',
  },
  'date-or-date-time': {
    accepts: (value) => isDay(value) || isInstant(value),
    message: 'must be a day (2026-11-20) or an ISO 8601 date-time with Z or an offset',
  },
  'time-zone': { accepts: isTimeZone, message: 'must be an IANA time zone name, such as Europe/Lisbon' },
  email: { accepts: isEmail, message: 'must be an e-mail address' },
  'http-url': { accepts: isHttpUrl, message: 'must be an http or https URL without user name and password' },
  host: { accepts: isHost, message: 'must be a host with an optional port, such as example.com:8443' },
  'header-name': { accepts: isHeaderName, message: 'must be the name of a header that a request may set' },
  'header-value': {
    accepts: (value) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value),
    message: 'must be printable ASCII characters on one line, without spaces at its ends',
  },
  uuid: { accepts: isUuid, message: 'must be a UUID' },
  // Only tells clients to hide what is typed.
  password: { accepts: () => true, message: '' },
};

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

function isInstant(value: string): boolean {
  const day = INSTANT.exec(value)?.[1];
  if (day === undefined || !isDay(day)) return false;
  // An offset can move an instant across either bound.
  const year = new Date(value).getUTCFullYear();
  return year >= 1970 && year <= 9999;
}

function isDay(value: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  // Date turns 30 February into 2 March, so compare what comes back.
  const date = new Date(Date.UTC(year, month - 1, day));
  return year >= 1970 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

const ATOM = '[^\\s@."(),:;<>\\[\\]\\\\\\p{C}]+';
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?';
const EMAIL = new RegExp(`^${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+(?!\\d+$)${LABEL}$`, 'u');

/** The form in which e-mail addresses are stored and compared. */
export const normalizeEmail = (address: string): string => address.trim().toLowerCase();

// Validates what is stored: lower-casing can add characters, `İ` becomes `i` with a combining dot.
function isEmail(value: string): boolean {
  const address = normalizeEmail(value);
  return EMAIL.test(address) && address.indexOf('@') <= 64 && normalizeEmail(address) === address;
}

function isHttpUrl(value: string): boolean {
  if (/[\s\p{Cc}]/u.test(value) || !/^https?:\/\//i.test(value) || !URL.canParse(value)) return false;
  const url = new URL(value);
  return url.username === '' && url.password === '';
}

function isHost(value: string): boolean {
  if (/[\s\p{Cc}/?#@\\%]/u.test(value) || /:(?:0*|\D.*)$/.test(value.replace(/^\[.*\]/, ''))) return false;
  return URL.parse(`http://${value}`) !== null;
}

/** What the client itself sets, or what changes the connection or the meaning of the body. */
const CLIENT_HEADERS =
  /^(?:host|content-.*|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect|accept-encoding|if-.*|range)$/i;

function isHeaderName(value: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(value) && !CLIENT_HEADERS.test(value);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The integer id that `text` spells in plain decimals; null if no row can have it. */
export function parseId(text: string): number | null {
  const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null;
  return id !== null && id <= MAX_ID ? id : null;
}

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
export function isTimeZone(name: string): boolean {
  return canonicalTimeZone(name) !== null;
}

/** The names that IANA uses today, where ICU goes on listing an earlier one. */
const CURRENT_NAMES: Record<string, string> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

/** The name that IANA uses today for a zone, in any of its names; anything else as it is. */
export function currentTimeZone(name: string): string {
  const canonical = canonicalTimeZone(name);
  return canonical === null ? name : (CURRENT_NAMES[canonical] ?? canonical);
}

/** To choose from, by their current names: UTC first, then the others in order. */
export const listTimeZones = (): string[] => {
  const names = Intl.supportedValuesOf('timeZone').map((name) => CURRENT_NAMES[name] ?? name);
  return ['UTC', ...[...new Set(names)].filter((name) => name !== 'UTC').sort()];
};
