import { randomBytes } from 'node:crypto';
import { parseOptions } from '@node-rs/argon2';
import { hashInWorker, verifyInWorker } from './hash-worker.ts';

/** OWASP's parameters for argon2id, the package's default variant. Raise them here: sign-ins rehash. */
export const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Hashes a password as a PHC string. Throws `unavailable` if too many hashes are waiting. */
export const hashPassword = (password: string): Promise<string> => hashInWorker(normalize(password), PARAMETERS);

/**
 * Whether `password` is the one that was hashed. Without a hash (unknown e-mail address, account without a password) it
 * returns false after the same work, so that the time does not reveal which addresses have accounts.
 */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const matches = await verifyInWorker(passwordHash ?? DUMMY_HASH, normalize(password));
  return matches && passwordHash !== null;
}

export const isSamePassword = (a: string, b: string): boolean => normalize(a) === normalize(b);

export function needsRehash(passwordHash: string): boolean {
  const made = parseOptions(passwordHash);
  return (
    !passwordHash.startsWith('$argon2id$') ||
    made.memoryCost < PARAMETERS.memoryCost ||
    made.timeCost < PARAMETERS.timeCost ||
    made.parallelism < PARAMETERS.parallelism
  );
}

const toUnpaddedBase64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

/** A hash of today's cost that belongs to no known password. */
const DUMMY_HASH = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$${toUnpaddedBase64(randomBytes(16))}$${toUnpaddedBase64(randomBytes(32))}`;

/** NFKC (NIST SP 800-63B): keyboards and systems write the same "é" or full-width digit in different bytes. */
const normalize = (password: string) => password.normalize('NFKC');
