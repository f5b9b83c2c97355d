import { createHmac, hkdfSync } from 'node:crypto';
import type { EncryptionKey } from '../config/secrets.ts';

/** HKDF's info. Changing it invalidates every stored index. */
const DERIVATION = 'webhooks.secret_lookup';

/** A keyed hash to find a secret by index. Its key is derived: re-encryption with another key needs a new index. */
export function toBlindIndex({ key }: EncryptionKey, secret: string): string {
  const indexKey = Buffer.from(hkdfSync('sha256', key, '', DERIVATION, 32));
  return createHmac('sha256', indexKey).update(secret).digest('hex');
}
