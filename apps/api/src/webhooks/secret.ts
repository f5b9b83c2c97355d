import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { SealingKey } from '../config/secrets.ts';
import type { Context } from '../context.ts';
import { placeOf } from '../sealed-columns.ts';
import { open, seal } from '../secrets.ts';

const PREFIX = 'whsec_';
const SECRET = /^whsec_[A-Za-z0-9_-]{32}$/;

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

/** Whether a text could be a secret at all. */
export const isSecret = (text: string): boolean => SECRET.test(text);

/** The columns that webhooks keep secrets in. */
type Place = 'secret_sealed' | 'previous_secret_sealed';

/** The columns of a webhook's secret: sealed, and as it is looked up. */
export const sealSecret = (ctx: Context, id: string, secret: string) => ({
  secretSealed: seal(ctx.config.sealingKeys, secret, placeOf('webhooks.secret_sealed', id)),
  secretLookup: lookupUnder(ctx.config.sealingKeys[0] as SealingKey, secret),
});

/** The secret that goes on signing for a while, as it is stored. */
export const sealPrevious = (ctx: Context, id: string, secret: string): string =>
  seal(ctx.config.sealingKeys, secret, placeOf('webhooks.previous_secret_sealed', id));

/** Opens a stored secret. Throws when its sealing key is gone. */
export const openSecret = (ctx: Context, id: string, sealed: string, column: Place = 'secret_sealed'): string =>
  open(ctx.config.sealingKeys, sealed, placeOf(`webhooks.${column}`, id));

/**
 * What `secret_lookup` holds: a keyed hash, so that a secret in a path is found by index and the column tells nothing
 * (security T5). The key is derived from a sealing key: whoever seals a secret anew under another key computes this
 * anew too.
 */
export function lookupUnder({ key }: SealingKey, secret: string): string {
  const lookupKey = Buffer.from(hkdfSync('sha256', key, '', 'webhooks.secret_lookup', 32));
  return createHmac('sha256', lookupKey).update(secret).digest('hex');
}

/** What `secret_lookup` may hold for a secret, under whichever key it was sealed. */
export const lookupsOf = ({ config }: Context, secret: string): string[] =>
  config.sealingKeys.map((key) => lookupUnder(key, secret));
