import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseOptions } from '@node-rs/argon2';
import { hashInWorker, verifyInWorker } from './hashing.ts';
import { limitConcurrency } from './in-turn.ts';

/** OWASP's parameters for argon2id, the package's default variant (decisions §3). Raise them here: logins rehash. */
export const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * No more hashes run than there are cores, which would finish none of them sooner, and no more than four, as each takes
 * 19 MiB. A thousand that wait are some five seconds of work.
 */
const inTurn = limitConcurrency({ atOnce: Math.min(availableParallelism(), 4), waitingAtMost: 1000 });

/** Hashes a password, as a PHC string. Refuses as `unavailable` when too many are waiting. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hashInWorker(normalized(password), PARAMETERS));
}

/**
 * Tells whether `password` is the one that was hashed. With no hash (unknown address, account without a password) it
 * says no after the same work, so that the time does not tell which addresses have accounts.
 */
export function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  return inTurn(async () => {
    const matches = await verifyInWorker(passwordHash ?? DUMMY_HASH, normalized(password));
    return matches && passwordHash !== null;
  });
}

/** Whether two texts are one password. */
export const isSamePassword = (a: string, b: string): boolean => normalized(a) === normalized(b);

/** True for a hash made with weaker parameters than today's. */
export function needsRehash(passwordHash: string): boolean {
  const made = parseOptions(passwordHash);
  return (
    !passwordHash.startsWith('$argon2id$') ||
    made.memoryCost < PARAMETERS.memoryCost ||
    made.timeCost < PARAMETERS.timeCost ||
    made.parallelism < PARAMETERS.parallelism
  );
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

/** A hash of today's cost that no password is known to have. */
const DUMMY_HASH = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$${unpadded(randomBytes(16))}$${unpadded(randomBytes(32))}`;

/** NFKC (NIST SP 800-63B): keyboards and systems spell the same "é" or full-width digit in different bytes. */
const normalized = (password: string) => password.normalize('NFKC');
