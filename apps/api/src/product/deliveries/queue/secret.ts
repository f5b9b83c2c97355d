import { createHmac, randomBytes } from 'node:crypto';
import type { Context } from '../../../context.ts';
import type { EncryptionKey } from '../../../lib/config/secrets.ts';
import { columnAad, decrypt, encrypt, toBlindIndex } from '../../../lib/crypto/encryption.ts';
import { isSameSecret } from '../../../lib/crypto/tokens.ts';

const PREFIX = 'whsec_';
/** Needs no escaping in a path, and cannot be guessed. */
const PATH_SAFE = /^[\w.~-]{32,100}$/;
const IN_BASE64 = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Skips `-` and `_`, since receivers read standard base64; 190 random bits are left. */
export function generateSecret(): string {
  for (;;) {
    const secret = randomBytes(24).toString('base64url');
    if (!/[-_]/.test(secret)) return PREFIX + secret;
  }
}

/** Whether a secret can be part of an inbound address. */
export const isPathSafe = (secret: string): boolean => PATH_SAFE.test(secret);

/** Libraries of Standard Webhooks expect padded base64 after `whsec_`. */
export const isReadableByReceivers = (secret: string): boolean => !secret.startsWith(PREFIX) || IN_BASE64.test(secret);

type SecretColumn = 'secret_encrypted' | 'previous_secret_encrypted';

export const encryptSecret = (ctx: Context, id: string, secret: string) => ({
  secretEncrypted: encrypt(ctx.config.encryptionKeys, secret, columnAad('endpoints.secret_encrypted', id)),
  secretLookup: toBlindIndex(ctx.config.encryptionKeys[0] as EncryptionKey, secret),
});

/** The same for a webhook without an inbound address. */
export const encryptUnindexedSecret = (ctx: Context, id: string, secret: string) => ({
  ...encryptSecret(ctx, id, secret),
  secretLookup: `none:${id}`,
});

/** Scoped to the user: several may choose the same secret, and a conflict must not reveal what others have. */
export function encryptChosenSecret(ctx: Context, { id, userId }: { id: string; userId: number }, secret: string) {
  if (!isPathSafe(secret)) return encryptUnindexedSecret(ctx, id, secret);
  const columns = encryptSecret(ctx, id, secret);
  return { ...columns, secretLookup: `${userId}:${columns.secretLookup}` };
}

export const encryptPreviousSecret = (ctx: Context, id: string, secret: string): string =>
  encrypt(ctx.config.encryptionKeys, secret, columnAad('endpoints.previous_secret_encrypted', id));

/** Throws if the encryption key is no longer configured. */
export const decryptSecret = (
  ctx: Context,
  id: string,
  ciphertext: string,
  column: SecretColumn = 'secret_encrypted',
): string => decrypt(ctx.config.encryptionKeys, ciphertext, columnAad(`endpoints.${column}`, id));

/** Under each key, generated or chosen. */
export const listBlindIndexes = ({ config }: Context, userId: number, secret: string): string[] =>
  config.encryptionKeys.flatMap((key) => {
    const lookup = toBlindIndex(key, secret);
    return [lookup, `${userId}:${lookup}`];
  });

export const signBody = (secret: string, body: string | Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

export const isSigned = (secret: string, body: Buffer, signature: unknown): boolean =>
  isSameSecret(signature, signBody(secret, body));

/** What Standard Webhooks sign. Id and time prevent replays. */
interface SignedMessage {
  id: string;
  at: Date;
  body: string;
}

export function buildStandardHeaders(
  secrets: readonly string[],
  { id, at, body }: SignedMessage,
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets
    .flatMap(toSigningKeys)
    .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/** Base64 after `whsec_`; else the bytes of the text (`format: 'raw'`) and, where it can be decoded, base64 too. */
function toSigningKeys(secret: string): Buffer[] {
  if (secret.startsWith('whsec_')) return [Buffer.from(secret.slice('whsec_'.length), 'base64')];
  const raw = Buffer.from(secret);
  return /^[A-Za-z0-9+/]+=*$/.test(secret) ? [raw, Buffer.from(secret, 'base64')] : [raw];
}
