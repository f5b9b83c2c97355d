import { endpoints, idempotencyKeys, mails, users } from '@carillon/db';

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
} as const;

export type EncryptedColumn = keyof typeof ENCRYPTED_COLUMNS;

export const columnAad = (column: EncryptedColumn, id: string | number): string =>
  `${ENCRYPTED_COLUMNS[column].label}:${id}`;
