import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { RateLimit } from './rates.ts';

/** A key of `userKey` without the id, which the database appends if only it knows the user. */
export const userKeyPrefix = ({ bucket }: RateLimit): string => `${bucket} user `;

export const userKey = (rate: RateLimit, userId: number): string => userKeyPrefix(rate) + userId;

export const addressKey = ({ bucket }: RateLimit, address: string): string => `${bucket} ${getClientNetwork(address)}`;

/** All values other than text count as one. The hash hides the value and bounds the key. */
export function fieldKey(rate: RateLimit, address: string, body: unknown): string {
  const name = rate.scope === 'ip+email' ? 'email' : 'token';
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  if (typeof value !== 'string') return addressKey(rate, address);
  return `${addressKey(rate, address)} ${hash(name === 'email' ? normalizeEmail(value) : value)}`;
}

export const emailKey = ({ bucket }: RateLimit, email: string): string => `${bucket} ${hash(normalizeEmail(email))}`;

const hash = (text: string) => createHash('sha256').update(text).digest('base64url');

/** In UTF-16 units. No valid address is longer, and normalizing a megabyte takes a tenth of a second. */
const MAX_EMAIL_LENGTH = 2 * 254;

/** Returns one spelling for all that lead to the same account, such as full-width letters. */
const normalizeEmail = (email: string) =>
  email.length > MAX_EMAIL_LENGTH ? email : email.normalize('NFKC').trim().toLowerCase().normalize('NFKC');

/** Returns the /64 of an IPv6 address, because a client chooses the rest. Texts that are not an address count as one. */
export function getClientNetwork(address: string): string {
  const bare = withoutPort(address).replace(/%.*$/s, '');
  // ipaddr.js also takes 127.1, octal and hexadecimal.
  if (isIP(bare) === 0) return 'unknown';
  const parsed = ipaddr.process(bare);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** Some proxies forward the port, which is new for each connection. */
const withoutPort = (address: string) =>
  /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? /^\[(.+)\](:\d+)?$/.exec(address)?.[1] ?? address;
