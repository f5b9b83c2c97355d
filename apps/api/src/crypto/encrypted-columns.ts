import { idempotencyKeys, mails, users, webhooks } from '@carillon/db';

/** Every column that holds encrypted values. `rotateKeys` goes through all of them. */
export const ENCRYPTED_COLUMNS = {
  'users.provider_key_sealed': { table: users, id: users.id, ciphertext: users.providerKeySealed },
  'webhooks.secret_sealed': { table: webhooks, id: webhooks.id, ciphertext: webhooks.secretSealed },
  'webhooks.previous_secret_sealed': { table: webhooks, id: webhooks.id, ciphertext: webhooks.previousSecretSealed },
  'mails.body_sealed': { table: mails, id: mails.id, ciphertext: mails.bodySealed },
  'idempotency_keys.answer_sealed': {
    table: idempotencyKeys,
    id: idempotencyKeys.id,
    ciphertext: idempotencyKeys.answerSealed,
  },
} as const;

export type EncryptedColumn = keyof typeof ENCRYPTED_COLUMNS;

export const columnAad = (column: EncryptedColumn, id: string | number): string => `${column}:${id}`;
