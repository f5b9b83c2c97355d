import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { RateLimit } from './rates.ts';

/** The counter of a user. */
export const userKey = ({ bucket }: RateLimit, userId: number): string => `${bucket} user ${userId}`;

/** The counter of an address. */
export const addressKey = ({ bucket }: RateLimit, address: string): string => `${bucket} ${networkOf(address)}`;

/**
 * The counter of an address and the e-mail or token of a body, which may be anything, since it is counted before it is
 * validated; whatever is no text counts as one. Hashed, which hides it and bounds the key.
 */
export function fieldKey(rate: RateLimit, address: string, body: unknown): string {
  const name = rate.scope === 'ip+email' ? 'email' : 'token';
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  if (typeof value !== 'string') return addressKey(rate, address);
  return `${addressKey(rate, address)} ${digest(name === 'email' ? sameEmail(value) : value)}`;
}

/** The counter of an e-mail address, whoever sends it. */
export const emailKey = (bucket: string, email: string): string => `${bucket} ${digest(sameEmail(email))}`;

const digest = (text: string) => createHash('sha256').update(text).digest('base64url');

/** In UTF-16 units; no longer address is valid, and normalising a megabyte of text takes a tenth of a second. */
const LONGEST_EMAIL = 2 * 254;

/** One spelling for all those that lead to the same account: those of full width and with spaces around among them. */
const sameEmail = (email: string) =>
  email.length > LONGEST_EMAIL ? email : email.normalize('NFKC').trim().toLowerCase().normalize('NFKC');

/**
 * The network that counts as one client: an IPv4 address, also one written as IPv6, or the /64 of an IPv6 address, of
 * which every client may choose the rest. What a proxy has forwarded and is no address at all counts as one client too.
 */
export function networkOf(address: string): string {
  const bare = withoutPort(address).replace(/%.*$/s, '');
  const version = isIP(bare);
  if (version === 4) return bare;
  if (version !== 6) return 'unknown';
  // A URL writes each address in one way: lower case, the longest run of zeros left out, no dotted part.
  const canonical = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  return mappedIPv4(canonical) ?? `${groupsOf(canonical).slice(0, 4).join(':')}::/64`;
}

/** Some proxies forward the port as well, which is new for each connection. */
const withoutPort = (address: string) =>
  /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? /^\[(.+)\](:\d+)?$/.exec(address)?.[1] ?? address;

function mappedIPv4(canonical: string): string | null {
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return null;
  const bytes = [high, low].map((group) => Number.parseInt(group, 16)).flatMap((word) => [word >> 8, word & 255]);
  return bytes.join('.');
}

function groupsOf(canonical: string): string[] {
  const split = (part: string) => (part === '' ? [] : part.split(':'));
  const [left = '', right] = canonical.split('::');
  if (right === undefined) return split(left);
  const zeros = 8 - split(left).length - split(right).length;
  return [...split(left), ...Array<string>(zeros).fill('0'), ...split(right)];
}
