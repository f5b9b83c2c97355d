import { createHmac } from 'node:crypto';
import type { EncryptionKey } from '@carillon/api/config/secrets';
import type { Header } from './format.ts';

/** Tells whether two keys are the same; the key is random bytes, so nothing of it can be found out. */
export const fingerprints = (keys: readonly EncryptionKey[]): Header['keys'] =>
  keys.map(({ id, key }) => ({
    id,
    fingerprint: createHmac('sha256', key).update('a backup of Carillon').digest('hex').slice(0, 32),
  }));

/** The ids of the keys of a backup that are not among `keys`, or are other ones there. */
export function missingKeys(keys: readonly EncryptionKey[], ofBackup: Header['keys']): string[] {
  const known = fingerprints(keys);
  return ofBackup
    .filter(({ id, fingerprint }) => !known.some((one) => one.id === id && one.fingerprint === fingerprint))
    .map(({ id }) => id);
}
