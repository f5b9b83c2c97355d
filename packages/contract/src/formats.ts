import { isTimeZone } from './time-zone.ts';

/** What each `format` of the contract accepts, and how a refusal of it is worded. */
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
  'http-url': { accepts: isHttpUrl, message: 'must be an http or https address without user name and password' },
  uuid: { accepts: (value) => UUID.test(value), message: 'must be a UUID' },
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

function isInstant(value: string): boolean {
  const day = INSTANT.exec(value)?.[1];
  if (day === undefined || !isDay(day)) return false;
  // The offset can carry an instant over either edge of the years.
  const year = new Date(value).getUTCFullYear();
  return year >= 1970 && year <= 9999;
}

function isDay(value: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  // Date takes 30 February for 2 March: only a day that comes back unchanged exists.
  const date = new Date(Date.UTC(year, month - 1, day));
  return year >= 1970 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

const ATOM = '[^\\s@."(),:;<>\\[\\]\\\\\\p{C}]+';
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?';
const EMAIL = new RegExp(`^${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+(?!\\d+$)${LABEL}$`, 'u');

/** Space around an address is cut off where it is stored (decisions §3), so it is no error here. */
function isEmail(value: string): boolean {
  const address = value.trim();
  return EMAIL.test(address) && address.indexOf('@') <= 64;
}

function isHttpUrl(value: string): boolean {
  if (/[\s\p{Cc}]/u.test(value) || !/^https?:\/\//i.test(value) || !URL.canParse(value)) return false;
  const url = new URL(value);
  return url.username === '' && url.password === '';
}
