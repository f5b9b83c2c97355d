import { hash, timingSafeEqual } from 'node:crypto';

const digest = (text: string) => hash('sha256', text, 'buffer');

/** Compares hashes, which have one length whatever was given: the time says nothing about the secret. */
export const isSameSecret = (given: unknown, secret: string): boolean =>
  typeof given === 'string' && secret !== '' && timingSafeEqual(digest(given), digest(secret));
