import { createHmac, hkdfSync } from 'node:crypto';
import type { EncryptionKey } from '../config/secrets.ts';

/** HKDF's info. Changing it invalidates every stored index. */
const DERIVATION = 'webhooks.secret_lookup';

/**
 * A keyed hash of a secret, by which a unique index finds it without the column revealing it. Its key is derived from an
 * encryption key: a secret that is encrypted with another key needs a new index, too.
 */
export function toBlindIndex({ key }: EncryptionKey, secret: string): string {
  const indexKey = Buffer.from(hkdfSync('sha256', key, '', DERIVATION, 32));
  return createHmac('sha256', indexKey).update(secret).digest('hex');
}
