import { createHmac } from 'node:crypto';
import type { EncryptionKey } from '@carillon/api/lib/config/secrets';
import type { Header } from './format.ts';

/** Fingerprints compare keys without revealing them: a key is 32 random bytes, which cannot be guessed from its HMAC. */
export const buildFingerprints = (keys: readonly EncryptionKey[]): Header['keys'] =>
  keys.map(({ id, key }) => ({
    id,
    fingerprint: createHmac('sha256', key).update('a backup of Carillon').digest('hex').slice(0, 32),
  }));

/** The ids of the backup's keys that `keys` lacks or has with another value. */
export function findMissingKeys(keys: readonly EncryptionKey[], backupKeys: Header['keys']): string[] {
  const present = buildFingerprints(keys);
  return backupKeys
    .filter(({ id, fingerprint }) => !present.some((one) => one.id === id && one.fingerprint === fingerprint))
    .map(({ id }) => id);
}
