import type { EncryptionKey } from '../config/secrets.ts';
import { columnAad } from './encrypted-columns.ts';
import { decrypt, encrypt } from './encryption.ts';

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
