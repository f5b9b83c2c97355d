import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Secret scanners find keys by `crl_[0-9A-Za-z]{38}`. */
const PREFIX = 'crl_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const KEY = /^crl_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;
const SHOWN_LENGTH = 12;

/** 32 random characters and the checksum of these. */
export function generateApiKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return PREFIX + random + buildChecksum(random);
}

/** Whether a bearer token is meant as an API key: no session token starts like one. */
export const isApiKey = (token: string): boolean => token.startsWith(PREFIX);

/** Whether the key may exist: its checksum is right. */
export function isWellFormedApiKey(key: string): boolean {
  const [, random, checksum] = KEY.exec(key) ?? [];
  return random !== undefined && buildChecksum(random) === checksum;
}

/** A fast hash is enough, because the key has 190 random bits. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The characters by which the owner recognises a key. */
export const toShownPrefix = (key: string): string => key.slice(0, SHOWN_LENGTH);

/** The CRC-32 in base 62, with leading zeros. */
function buildChecksum(random: string): string {
  let rest = crc32(random);
  let text = '';
  while (text.length < CHECKSUM_LENGTH) {
    text = ALPHABET[rest % ALPHABET.length] + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
