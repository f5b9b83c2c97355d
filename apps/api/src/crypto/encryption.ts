import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { EncryptionKey } from '../config/secrets.ts';

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^v1\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]+)$/;

/**
 * Seals `plaintext` for the database: AES-256-GCM under the first of `keys`, as `v1.<key id>.<nonce, tag, ciphertext>`.
 * `boundTo` names its one place, column and row (`users.provider_key_sealed:42`): moved elsewhere it does not open.
 */
export function encrypt(keys: readonly EncryptionKey[], plaintext: string, boundTo: string): string {
  const [writer] = keys;
  if (!writer) throw new Error('There is no key to seal with.');
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', writer.key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticated(writer.id, boundTo));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return `${ciphertextPrefix(writer)}${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
}

/**
 * Opens what `seal` made for the same `boundTo`, under whichever of `keys` sealed it. Throws an `Error` that names the
 * place, and never what is in it, when the value was changed, was sealed for another place, or its key is gone.
 */
export function decrypt(keys: readonly EncryptionKey[], sealed: string, boundTo: string): string {
  const [, keyId, encoded] = SEALED.exec(sealed) ?? [];
  if (!keyId || !encoded) throw new Error(`${boundTo} does not hold a sealed value.`);
  const reader = keys.find((key) => key.id === keyId);
  if (!reader) throw new Error(`${boundTo} is sealed under the key "${keyId}", which ENCRYPTION_KEY does not list.`);
  const bytes = Buffer.from(encoded, 'base64url');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', reader.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(authenticated(keyId, boundTo));
    decipher.setAuthTag(tag);
    return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    throw new Error(`${boundTo} was changed, or sealed for another place.`);
  }
}

/** What every value begins with that was sealed under `key`. */
export const ciphertextPrefix = ({ id }: EncryptionKey): string => `${VERSION}.${id}.`;

const authenticated = (keyId: string, boundTo: string) => Buffer.from(`${VERSION}.${keyId}.${boundTo}`);
