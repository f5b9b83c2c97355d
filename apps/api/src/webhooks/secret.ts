import { randomBytes } from 'node:crypto';
import type { EncryptionKey } from '../config/secrets.ts';
import type { Context } from '../context.ts';
import { toBlindIndex } from '../crypto/blind-index.ts';
import { columnAad } from '../crypto/encrypted-columns.ts';
import { decrypt, encrypt } from '../crypto/encryption.ts';

const PREFIX = 'whsec_';
/** What stands in a path as it is, long enough not to be guessed there, and within what a router takes for one part. */
const OPENS = /^[\w.~-]{32,100}$/;
const IN_BASE64 = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * A new secret: `whsec_` and 32 URL-safe base64 characters of 24 random bytes (decisions §8). None has `-` or `_`, since
 * what receivers verify with reads standard base64, which both alphabets are but for these two: 190 bits are left.
 */
export function newSecret(): string {
  for (;;) {
    const secret = randomBytes(24).toString('base64url');
    if (!/[-_]/.test(secret)) return PREFIX + secret;
  }
}

/** Whether a secret opens the inbound address that contains it: one of the service's always, one of its user's own if it fits. */
export const isPathSafe = (secret: string): boolean => OPENS.test(secret);

/** Whether the libraries of Standard Webhooks can read a secret: what follows `whsec_` is base64 to them. */
export const isReadable = (secret: string): boolean => !secret.startsWith(PREFIX) || IN_BASE64.test(secret);

/** The columns that webhooks keep secrets in. */
type Place = 'secret_sealed' | 'previous_secret_sealed';

/** The columns of a secret of `newSecret`: sealed, and as it is looked up. */
export const encryptSecret = (ctx: Context, id: string, secret: string) => ({
  secretSealed: encrypt(ctx.config.encryptionKeys, secret, columnAad('webhooks.secret_sealed', id)),
  secretLookup: toBlindIndex(ctx.config.encryptionKeys[0] as EncryptionKey, secret),
});

/** The same of a webhook that has no inbound address. */
export const encryptUnlisted = (ctx: Context, id: string, secret: string) => ({
  ...encryptSecret(ctx, id, secret),
  secretLookup: `none:${id}`,
});

/**
 * The same of a secret that its user has chosen. Others may have chosen it too: it is looked up among those of the user
 * alone, so that nobody learns from a refusal what others have.
 */
export function encryptChosenSecret(ctx: Context, { id, userId }: { id: string; userId: number }, secret: string) {
  if (!isPathSafe(secret)) return encryptUnlisted(ctx, id, secret);
  const sealed = encryptSecret(ctx, id, secret);
  return { ...sealed, secretLookup: `${userId}:${sealed.secretLookup}` };
}

/** The secret that goes on signing for a while, as it is stored. */
export const encryptPreviousSecret = (ctx: Context, id: string, secret: string): string =>
  encrypt(ctx.config.encryptionKeys, secret, columnAad('webhooks.previous_secret_sealed', id));

/** Opens a stored secret. Throws when its sealing key is gone. */
export const decryptSecret = (ctx: Context, id: string, sealed: string, column: Place = 'secret_sealed'): string =>
  decrypt(ctx.config.encryptionKeys, sealed, columnAad(`webhooks.${column}`, id));

/** What `secret_lookup` may hold for a secret of a user's webhook, under whichever key it was sealed, and whoever made it. */
export const listBlindIndexes = ({ config }: Context, userId: number, secret: string): string[] =>
  config.encryptionKeys.flatMap((key) => {
    const lookup = toBlindIndex(key, secret);
    return [lookup, `${userId}:${lookup}`];
  });
