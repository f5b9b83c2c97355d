import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { EncryptionKey } from '../config/secrets.ts';

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHERTEXT = /^v1\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]+)$/;

/** Returns `v1.<key id>.<nonce, tag, ciphertext>`. `aad` names column and row: the value cannot be decrypted elsewhere. */
export function encrypt(keys: readonly EncryptionKey[], plaintext: string, aad: string): string {
  const [key] = keys;
  if (!key) throw new Error('There is no key to encrypt with.');
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(toFullAad(key.id, aad));
  const encrypted = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return `${ciphertextPrefix(key)}${Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url')}`;
}

/** Throws an `Error` that contains `aad` and nothing of the value. */
export function decrypt(keys: readonly EncryptionKey[], ciphertext: string, aad: string): string {
  const [, keyId, encoded] = CIPHERTEXT.exec(ciphertext) ?? [];
  if (!keyId || !encoded) throw new Error(`${aad} does not hold an encrypted value.`);
  const key = keys.find(({ id }) => id === keyId);
  if (!key) throw new Error(`${aad} is encrypted with key "${keyId}", which ENCRYPTION_KEY does not list.`);
  const bytes = Buffer.from(encoded, 'base64url');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(toFullAad(keyId, aad));
    decipher.setAuthTag(tag);
    return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    throw new Error(`${aad} was changed, or encrypted for another row or column.`);
  }
}

export const ciphertextPrefix = ({ id }: EncryptionKey): string => `${VERSION}.${id}.`;

const toFullAad = (keyId: string, aad: string) => Buffer.from(`${VERSION}.${keyId}.${aad}`);
