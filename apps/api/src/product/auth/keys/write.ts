import { randomUUID } from 'node:crypto';
import type { ChangeApiKeyInput, CreateApiKeyInput } from '@carillon/contract/accounts/api-keys';
import { apiKeys, sessions, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, ERROR_MESSAGES, invalidField } from '../../../errors.ts';
import { queueMail } from '../../../lib/mail/queue.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { quotaExceededError } from '../../../platform/limits/quotas.ts';
import { API_KEY_CREATIONS, userKey } from '../../../platform/limits/rates.ts';
import { assertRateLimit } from '../../../platform/limits/windows.ts';
import { inTransaction } from '../../../transaction.ts';
import { assertConfirmed } from '../confirm-session.ts';
import { isNoConnection } from '../oauth-server/connections.ts';
import { assertSession, getSessionId } from '../sessions.ts';
import { generateApiKey, hashApiKey, toShownPrefix } from '../tokens.ts';
import { apiKeyFields } from './read.ts';

const MAX_API_KEYS = 25;

/** Returns the key with its secret, which is not shown again. Throws 400, 402, 403, 409 for a known id, 429. */
export async function createApiKey(ctx: Context, caller: Caller, input: CreateApiKeyInput, id: string = randomUUID()) {
  const sessionId = getSessionId(caller);
  const scopes = [...new Set(input.scopes)];
  if (scopes.includes('admin') && caller.role !== 'ADMIN') {
    throw new AppError('forbidden', 'Only administrators can create a key with the scope admin.');
  }
  const expiresAt = parseExpiry(ctx, input.expiresAt) ?? null;
  await assertRateLimit(ctx, API_KEY_CREATIONS, userKey(API_KEY_CREATIONS, caller.id));
  const secret = generateApiKey();
  return inTransaction(ctx, async (tx) => {
    await reserveApiKey(tx, caller, sessionId);
    const [key] = await tx.db
      .insert(apiKeys)
      .values({
        id,
        userId: caller.id,
        name: input.name,
        prefix: toShownPrefix(secret),
        secretHash: hashApiKey(secret),
        scopes,
        expiresAt,
        createdAt: tx.now(),
      })
      .onConflictDoNothing({ target: apiKeys.id })
      .returning(apiKeyFields);
    if (!key) throw new AppError('conflict', 'There is a key with this id.');
    await recordAudit(tx, { kind: 'key.created', ...describeActor(caller), details: describeKey(key) });
    const mail = getTexts(caller.language).mails.keyCreated(key.name, key.prefix, key.scopes);
    await queueMail(tx, { to: caller.email, userId: caller.id, ...mail });
    return { key, secret };
  });
}

/** Locks the user's row for the transaction, so that concurrent creations are counted one after the other. */
async function reserveApiKey(ctx: Context, caller: Caller, sessionId: string): Promise<void> {
  await ctx.db.select({ id: users.id }).from(users).where(eq(users.id, caller.id)).for('no key update');
  // A reset of the password that held the lock has ended the session: its thief gets no key.
  if ((await ctx.db.$count(sessions, eq(sessions.id, sessionId))) === 0) {
    throw new AppError('unauthenticated', ERROR_MESSAGES.unauthenticated);
  }
  const used = await ctx.db.$count(apiKeys, and(eq(apiKeys.userId, caller.id), isNoConnection));
  if (used >= MAX_API_KEYS) {
    throw quotaExceededError({ resource: 'apiKeys', used, limit: MAX_API_KEYS, resetAt: null });
  }
}

/** Prolonging it needs a confirmed session. Throws 400, 403, 404. */
export async function changeApiKey(ctx: Context, caller: Caller, id: string, input: ChangeApiKeyInput) {
  assertSession(caller);
  const expiresAt = parseExpiry(ctx, input.expiresAt);
  return inTransaction(ctx, async (tx) => {
    const [before] = await tx.db.select(apiKeyFields).from(apiKeys).where(isOwnKey(caller, id)).for('no key update');
    if (!before) throw apiKeyNotFound();
    if (expiresAt !== undefined && isLater(expiresAt, before.expiresAt)) assertConfirmed(ctx, caller);
    const after = {
      name: input.name ?? before.name,
      expiresAt: expiresAt === undefined ? before.expiresAt : expiresAt,
    };
    const isChanged = after.name !== before.name || after.expiresAt?.getTime() !== before.expiresAt?.getTime();
    if (!isChanged) return before;
    await tx.db.update(apiKeys).set(after).where(isOwnKey(caller, id));
    const { name, expiresAt: expiry } = before;
    const details = { keyId: id, before: { name, expiresAt: expiry }, after };
    await recordAudit(tx, { kind: 'key.changed', ...describeActor(caller), details });
    return { ...before, ...after };
  });
}

/** Throws 403, 404. */
export async function deleteApiKey(ctx: Context, caller: Caller, id: string): Promise<void> {
  assertSession(caller);
  await inTransaction(ctx, async (tx) => {
    const deleted = await deleteUserApiKeys(tx, caller.id, id);
    const [key] = deleted;
    if (!key) throw apiKeyNotFound();
    await recordAudit(tx, { kind: 'key.deleted', ...describeActor(caller), details: describeKey(key) });
  });
}

/** Deletes one or all keys of a user for an operator. Returns the deleted ones. */
export function revokeApiKeys(ctx: Context, userId: number, id?: string) {
  return inTransaction(ctx, async (tx) => {
    const deleted = await deleteUserApiKeys(tx, userId, id);
    for (const key of deleted) {
      const details = describeKey(key);
      await recordAudit(tx, { kind: 'key.deleted', ...describeActor(null, userId), details });
    }
    return deleted;
  });
}

/** Deletes one or all keys of a user. */
export const deleteUserApiKeys = (ctx: Context, userId: number, id?: string) =>
  ctx.db
    .delete(apiKeys)
    .where(and(eq(apiKeys.userId, userId), isNoConnection, id === undefined ? undefined : eq(apiKeys.id, id)))
    .returning(apiKeyFields);

/** Throws 400 for an instant that is not in the future. */
function parseExpiry(ctx: Context, given: string | null | undefined): Date | null | undefined {
  if (typeof given !== 'string') return given;
  const at = new Date(given);
  if (at <= ctx.now()) throw invalidField('expiresAt', 'must be in the future');
  return at;
}

/** Null for never. */
const isLater = (after: Date | null, before: Date | null) => before !== null && (after === null || after > before);

const isOwnKey = (caller: Caller, id: string) => and(eq(apiKeys.id, id), eq(apiKeys.userId, caller.id), isNoConnection);

const apiKeyNotFound = () => new AppError('not_found', 'API key not found');

type Key = Awaited<ReturnType<typeof deleteUserApiKeys>>[number];

const describeKey = ({ id, name, prefix, scopes, expiresAt }: Key) => ({ keyId: id, name, prefix, scopes, expiresAt });
