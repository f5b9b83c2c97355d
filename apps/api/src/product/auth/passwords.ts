import { randomBytes } from 'node:crypto';
import { parseOptions } from '@node-rs/argon2';
import { hashInWorker, verifyInWorker } from './hash-worker.ts';

/** OWASP's parameters for argon2id, the package's default variant. If they are raised, sign-ins rehash. */
export const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export const hashPassword = (password: string): Promise<string> => hashInWorker(normalize(password), PARAMETERS);

/** Does the same work without a hash, so that the time does not reveal which addresses have accounts. */
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

const DUMMY_HASH = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$${toUnpaddedBase64(randomBytes(16))}$${toUnpaddedBase64(randomBytes(32))}`;

/** NFKC (NIST SP 800-63B), because systems write the same "é" in different bytes. */
const normalize = (password: string) => password.normalize('NFKC');
