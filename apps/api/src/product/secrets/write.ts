import { randomUUID } from 'node:crypto';
import { type CreateSecretInput, MAX_SECRETS } from '@carillon/contract/accounts/secrets';
import { secrets, users } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { columnAad, encrypt } from '../../lib/crypto/encryption.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { quotaExceededError } from '../../platform/limits/quotas.ts';
import { inTransaction } from '../../transaction.ts';
import { assertSession } from '../auth/sessions.ts';
import { secretFields } from './read.ts';

/** Throws 402, 403, 409. */
export async function createSecret(ctx: Context, caller: Caller, { name, host, header, value }: CreateSecretInput) {
  assertSession(caller);
  const id = randomUUID();
  return inTransaction(ctx, async (tx) => {
    // Concurrent creations are counted one after the other.
    await tx.db.select({ id: users.id }).from(users).where(eq(users.id, caller.id)).for('no key update');
    const used = await tx.db.$count(secrets, eq(secrets.userId, caller.id));
    if (used >= MAX_SECRETS) {
      throw quotaExceededError({ resource: 'secrets', used, limit: MAX_SECRETS, resetAt: null });
    }
    const [secret] = await tx.db
      .insert(secrets)
      .values({
        id,
        userId: caller.id,
        name,
        host: normalizeHost(host),
        header,
        valueEncrypted: encrypt(ctx.config.encryptionKeys, value, columnAad('secrets.value_encrypted', id)),
        createdAt: tx.now(),
      })
      .onConflictDoNothing({ target: [secrets.userId, secrets.name] })
      .returning(secretFields);
    if (!secret) throw new AppError('conflict', 'There is a secret of this name.');
    await recordAudit(tx, { kind: 'secret.created', ...describeActor(caller), details: describeSecret(secret) });
    return secret;
  });
}

/** Throws 403, 404. */
export async function deleteSecret(ctx: Context, caller: Caller, id: string): Promise<void> {
  assertSession(caller);
  await inTransaction(ctx, async (tx) => {
    const isThis = and(eq(secrets.id, id), eq(secrets.userId, caller.id));
    const [secret] = await tx.db.delete(secrets).where(isThis).returning(secretFields);
    if (!secret) throw new AppError('not_found', 'Secret not found');
    await recordAudit(tx, { kind: 'secret.deleted', ...describeActor(caller), details: describeSecret(secret) });
  });
}

/** In lower case and ASCII. A port that was given stays, because the usual one depends on the scheme. */
function normalizeHost(host: string): string {
  const port = /:\d+$/.exec(host)?.[0] ?? '';
  return new URL(`http://${host}`).hostname + (port && `:${Number(port.slice(1))}`);
}

const describeSecret = ({ id, name, host, header }: { id: string; name: string; host: string; header: string }) => ({
  secretId: id,
  name,
  host,
  header,
});
