import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { isUuid } from '@carillon/contract/validation/formats';
import { endpoints, factors, idempotencyKeys, mails, providers, secrets, taskSources, users } from '@carillon/db';
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

/**
 * Every column that holds encrypted values. `rotateKeys` goes through all of them. `label` is authenticated with each value,
 * so it stays when the column is renamed.
 */
export const ENCRYPTED_COLUMNS = {
  'users.provider_key_encrypted': {
    label: 'users.provider_key_sealed',
    table: users,
    id: users.id,
    ciphertext: users.providerKeyEncrypted,
  },
  'endpoints.secret_encrypted': {
    label: 'webhooks.secret_sealed',
    table: endpoints,
    id: endpoints.id,
    ciphertext: endpoints.secretEncrypted,
  },
  'endpoints.previous_secret_encrypted': {
    label: 'webhooks.previous_secret_sealed',
    table: endpoints,
    id: endpoints.id,
    ciphertext: endpoints.previousSecretEncrypted,
  },
  'mails.body_encrypted': {
    label: 'mails.body_sealed',
    table: mails,
    id: mails.id,
    ciphertext: mails.bodyEncrypted,
  },
  'idempotency_keys.answer_encrypted': {
    label: 'idempotency_keys.answer_sealed',
    table: idempotencyKeys,
    id: idempotencyKeys.id,
    ciphertext: idempotencyKeys.answerEncrypted,
  },
  'providers.api_key_encrypted': {
    label: 'providers.api_key_encrypted',
    table: providers,
    id: providers.id,
    ciphertext: providers.apiKeyEncrypted,
  },
  'factors.secret_encrypted': {
    label: 'factors.secret_encrypted',
    table: factors,
    id: factors.id,
    ciphertext: factors.secretEncrypted,
  },
  'task_sources.text_encrypted': {
    label: 'task_sources.text_encrypted',
    table: taskSources,
    id: taskSources.id,
    ciphertext: taskSources.textEncrypted,
  },
  'secrets.value_encrypted': {
    label: 'secrets.value_encrypted',
    table: secrets,
    id: secrets.id,
    ciphertext: secrets.valueEncrypted,
  },
} as const;

export type EncryptedColumn = keyof typeof ENCRYPTED_COLUMNS;

/** A UUID may come from a request in capitals, and is stored in lower case. */
export const columnAad = (column: EncryptedColumn, id: string | number): string =>
  `${ENCRYPTED_COLUMNS[column].label}:${typeof id === 'string' && isUuid(id) ? id.toLowerCase() : id}`;

/** HKDF's info. Changing it invalidates every stored index. */
const DERIVATION = 'webhooks.secret_lookup';

/** A keyed hash to find a secret by index. Its key is derived: re-encryption with another key needs a new index. */
export function toBlindIndex({ key }: EncryptionKey, secret: string): string {
  const indexKey = Buffer.from(hkdfSync('sha256', key, '', DERIVATION, 32));
  return createHmac('sha256', indexKey).update(secret).digest('hex');
}

interface Keys {
  config: { encryptionKeys: readonly EncryptionKey[] };
}

export const encryptProviderKey = ({ config }: Keys, userId: number, providerKey: string): string =>
  encrypt(config.encryptionKeys, providerKey, columnAad('users.provider_key_encrypted', userId));

/** Decrypts that column. Throws when its encryption key is not configured any more. */
export const decryptProviderKey = ({ config }: Keys, userId: number, ciphertext: string | null): string | null =>
  ciphertext === null
    ? null
    : decrypt(config.encryptionKeys, ciphertext, columnAad('users.provider_key_encrypted', userId));

export const UNREADABLE_KEY_MESSAGE = 'Your own AI key cannot be read any more: save it again.';
