import type { Context } from '../context.ts';
import { placeOf } from '../sealed-columns.ts';
import { open, seal } from '../secrets.ts';

/** Seals a user's own AI key for `users.providerKeySealed` (decisions §7). */
export const sealProviderKey = (ctx: Context, userId: number, key: string) =>
  seal(ctx.config.sealingKeys, key, placeOf('users.provider_key_sealed', userId));

/** Opens what that column holds; null where the user has no key. Throws when its sealing key is gone. */
export const openProviderKey = (ctx: Context, userId: number, sealed: string | null) =>
  sealed === null ? null : open(ctx.config.sealingKeys, sealed, placeOf('users.provider_key_sealed', userId));

/** What its owner is told when `openProviderKey` throws. */
export const UNREADABLE_KEY_MESSAGE = 'Your own AI key cannot be read any more: save it again.';
