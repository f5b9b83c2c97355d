import { mails, users, webhooks } from '@carillon/db';

/** Every column that holds sealed values (security T24), by the name that its values are bound to; rotation goes through all. */
export const ENCRYPTED_COLUMNS = {
  'users.provider_key_sealed': { table: users, id: users.id, sealed: users.providerKeySealed },
  'webhooks.secret_sealed': { table: webhooks, id: webhooks.id, sealed: webhooks.secretSealed },
  'webhooks.previous_secret_sealed': { table: webhooks, id: webhooks.id, sealed: webhooks.previousSecretSealed },
  'mails.body_sealed': { table: mails, id: mails.id, sealed: mails.bodySealed },
} as const;

export type EncryptedColumn = keyof typeof ENCRYPTED_COLUMNS;

/** The one place that a sealed value opens in, as `seal` and `open` take it: a column of a row. */
export const columnAad = (column: EncryptedColumn, id: string | number): string => `${column}:${id}`;
