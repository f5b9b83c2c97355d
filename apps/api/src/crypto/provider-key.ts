import type { Context } from '../context.ts';
import { columnAad } from './encrypted-columns.ts';
import { decrypt, encrypt } from './encryption.ts';

/** Seals a user's own AI key for `users.providerKeySealed` (decisions §7). */
export const encryptProviderKey = (ctx: Context, userId: number, key: string) =>
  encrypt(ctx.config.encryptionKeys, key, columnAad('users.provider_key_sealed', userId));

/** Opens what that column holds; null where the user has no key. Throws when its sealing key is gone. */
export const decryptProviderKey = (ctx: Context, userId: number, sealed: string | null) =>
  sealed === null ? null : decrypt(ctx.config.encryptionKeys, sealed, columnAad('users.provider_key_sealed', userId));

/** What its owner is told when `openProviderKey` throws. */
export const UNREADABLE_KEY_MESSAGE = 'Your own AI key cannot be read any more: save it again.';
