import { secrets } from '@carillon/db';
import { and, asc, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { columnAad, decrypt } from '../../lib/crypto/encryption.ts';
import type { HeaderSecret } from '../../lib/sources/fetch.ts';
import { assertSession } from '../auth/sessions.ts';

/** The fields of `Secret` in the contract. */
export const secretFields = {
  id: secrets.id,
  name: secrets.name,
  host: secrets.host,
  header: secrets.header,
  createdAt: secrets.createdAt,
  lastUsedAt: secrets.lastUsedAt,
};

const USE_PRECISION_MS = 60_000;

/** By name. Throws 403. */
export async function listSecrets(ctx: Context, caller: Pick<Caller, 'id' | 'sessionId'>) {
  assertSession(caller);
  return ctx.db.select(secretFields).from(secrets).where(eq(secrets.userId, caller.id)).orderBy(asc(secrets.name));
}

/** The hosts of a user's secrets, by their names. */
export async function readSecretHosts(ctx: Context, userId: number): Promise<Map<string, string>> {
  const rows = await ctx.db
    .select({ name: secrets.name, host: secrets.host })
    .from(secrets)
    .where(eq(secrets.userId, userId));
  return new Map(rows.map(({ name, host }) => [name, host]));
}

/** Whether the secret of `host` is for `url`. The usual port of the scheme may be left out. */
export function isHostOf(host: string, url: string): boolean {
  const address = new URL(url);
  return URL.parse(`${address.protocol}//${host}`)?.host === address.host;
}

/**
 * Decrypts a secret that is about to be sent to `url`. Null if there is none of this name, if it is for another host, or
 * if no key of `ENCRYPTION_KEY` decrypts it.
 */
export async function takeSecret(
  ctx: Context,
  userId: number,
  name: string,
  url: string,
): Promise<HeaderSecret | null> {
  const [row] = await ctx.db
    .select()
    .from(secrets)
    .where(and(eq(secrets.userId, userId), eq(secrets.name, name)));
  if (!row || !isHostOf(row.host, url)) return null;
  const value = decryptValue(ctx, row);
  const now = ctx.now();
  if (value !== null && now.getTime() - (row.lastUsedAt?.getTime() ?? 0) >= USE_PRECISION_MS) {
    await ctx.db.update(secrets).set({ lastUsedAt: now }).where(eq(secrets.id, row.id));
  }
  return value === null ? null : { name: row.header, value };
}

function decryptValue(ctx: Context, { id, valueEncrypted }: typeof secrets.$inferSelect): string | null {
  try {
    return decrypt(ctx.config.encryptionKeys, valueEncrypted, columnAad('secrets.value_encrypted', id));
  } catch (error) {
    ctx.log.warn({ err: error }, 'a secret of a source cannot be decrypted');
    return null;
  }
}
