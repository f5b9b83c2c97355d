import { randomBytes } from 'node:crypto';

/** Crockford's: no letter that looks like a digit, and no U, which makes words of it. 32 signs, so 5 bits each. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** A code that nobody guesses: 80 random bits, as `7K2M-QX4T-9ZB1-HN5C` (security T8). */
export function newCode(): string {
  const group = () => Array.from(randomBytes(GROUP_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}
