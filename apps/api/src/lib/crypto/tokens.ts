import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** How long a mailed link works. */
export const LINK_LIFETIME_MS = 60 * 60 * 1000;

/** The secret of a mailed link: 64 hexadecimal characters, stored as a hash only. */
export const generateLinkToken = (): string => randomBytes(32).toString('hex');

export const hashLinkToken = (token: string): string => createHash('sha256').update(token).digest('hex');

const digest = (text: string) => hash('sha256', text, 'buffer');

/** Compares hashes, which have one length whatever was given: the time says nothing about the secret. */
export const isSameSecret = (given: unknown, secret: string): boolean =>
  typeof given === 'string' && secret !== '' && timingSafeEqual(digest(given), digest(secret));
