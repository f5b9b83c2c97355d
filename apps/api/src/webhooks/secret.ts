import { randomBytes } from 'node:crypto';
import type { EncryptionKey } from '../config/secrets.ts';
import type { Context } from '../context.ts';
import { toBlindIndex } from '../crypto/blind-index.ts';
import { columnAad } from '../crypto/encrypted-columns.ts';
import { decrypt, encrypt } from '../crypto/encryption.ts';

const PREFIX = 'whsec_';
/** Needs no escaping in a path, is too long to guess, and is within the router's limit for one segment. */
const PATH_SAFE = /^[\w.~-]{32,100}$/;
const IN_BASE64 = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * `whsec_` and 32 base64 characters of 24 random bytes. Secrets with `-` or `_` are skipped, because they stand in a path
 * and receivers' libraries read standard base64; 190 bits are left.
 */
export function generateSecret(): string {
  for (;;) {
    const secret = randomBytes(24).toString('base64url');
    if (!/[-_]/.test(secret)) return PREFIX + secret;
  }
}

/** Whether a secret can be part of an inbound address. Generated secrets always can. */
export const isPathSafe = (secret: string): boolean => PATH_SAFE.test(secret);

/** Whether the libraries of Standard Webhooks accept a secret: after `whsec_` it must be padded base64. */
export const isReadableByReceivers = (secret: string): boolean => !secret.startsWith(PREFIX) || IN_BASE64.test(secret);

type SecretColumn = 'secret_sealed' | 'previous_secret_sealed';

/** The columns of a generated secret: encrypted, and as a blind index. */
export const encryptSecret = (ctx: Context, id: string, secret: string) => ({
  secretSealed: encrypt(ctx.config.encryptionKeys, secret, columnAad('webhooks.secret_sealed', id)),
  secretLookup: toBlindIndex(ctx.config.encryptionKeys[0] as EncryptionKey, secret),
});

/** The same for a webhook without an inbound address. */
export const encryptUnindexedSecret = (ctx: Context, id: string, secret: string) => ({
  ...encryptSecret(ctx, id, secret),
  secretLookup: `none:${id}`,
});

/**
 * The same for a secret that the user chose. The index is scoped to the user: several users may choose the same secret,
 * and a conflict must not tell what others have.
 */
export function encryptChosenSecret(ctx: Context, { id, userId }: { id: string; userId: number }, secret: string) {
  if (!isPathSafe(secret)) return encryptUnindexedSecret(ctx, id, secret);
  const columns = encryptSecret(ctx, id, secret);
  return { ...columns, secretLookup: `${userId}:${columns.secretLookup}` };
}

/** The replaced secret, which signs for a while beside the new one. */
export const encryptPreviousSecret = (ctx: Context, id: string, secret: string): string =>
  encrypt(ctx.config.encryptionKeys, secret, columnAad('webhooks.previous_secret_sealed', id));

/** Throws if the encryption key is no longer configured. */
export const decryptSecret = (
  ctx: Context,
  id: string,
  sealed: string,
  column: SecretColumn = 'secret_sealed',
): string => decrypt(ctx.config.encryptionKeys, sealed, columnAad(`webhooks.${column}`, id));

/** All values of `secret_lookup` that a user's secret may have: under each key, generated or chosen. */
export const listBlindIndexes = ({ config }: Context, userId: number, secret: string): string[] =>
  config.encryptionKeys.flatMap((key) => {
    const lookup = toBlindIndex(key, secret);
    return [lookup, `${userId}:${lookup}`];
  });
