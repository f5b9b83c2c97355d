import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/webhooks/events';
import type { ChangeWebhookInput, CreateWebhookInput } from '@carillon/contract/webhooks/webhooks';
import { endpoints, users } from '@carillon/db';
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, invalidField, preconditionFailed } from '../../../errors.ts';
import { lockPlanLimits } from '../../../platform/limits/plan-limits.ts';
import { quotaExceededError } from '../../../platform/limits/quotas.ts';
import { type ExpectedRevisions, hasRevision } from '../../../platform/queries/revision.ts';
import { afterCommit, inTransaction } from '../../../transaction.ts';
import { endDeliveriesIfFailed } from '../queue/leases.ts';
import {
  decryptSecret,
  encryptChosenSecret,
  encryptPreviousSecret,
  encryptSecret,
  encryptUnindexedSecret,
  generateSecret,
  isPathSafe,
  isReadableByReceivers,
  listBlindIndexes,
} from '../queue/secret.ts';
import { sendTest, type TestResult } from '../queue/test-delivery.ts';
import { assertReachable } from './managed-webhooks.ts';
import { getWebhook, isOwnWebhook, ownWebhook, secretVersion, webhookFields, webhookNotFound } from './read.ts';

const MAX_WEBHOOKS = 10;
/** How long a replaced secret still signs beside the new one. */
const PREVIOUS_SECRET_MS = 24 * 60 * 60 * 1000;

/** Managed webhooks count against no limit, and change with their task or settings. */
const isSubscription = eq(endpoints.purpose, 'subscription');

/** Returns the webhook with its secret, which is not shown again. Throws 400, 402, and 409 also if `id` is taken. */
export async function createWebhook(
  ctx: Context,
  caller: Caller,
  input: CreateWebhookInput,
  id: string = randomUUID(),
) {
  assertReachable(ctx, 'url', input.url);
  const secret = input.secret ?? generateSecret();
  if (!isReadableByReceivers(secret)) throw invalidField('secret', 'must be base64, padded, after whsec_');
  return inTransaction(ctx, async (tx) => {
    await reserveWebhook(tx, caller, id);
    const isChosen = input.secret !== undefined;
    if (isChosen) await assertUnused(tx, caller, secret);
    const now = tx.now();
    const events = unique(input.events);
    await tx.db.insert(endpoints).values({
      id,
      userId: caller.id,
      url: input.url,
      ...(isChosen ? encryptChosenSecret(ctx, { id, userId: caller.id }, secret) : encryptSecret(ctx, id, secret)),
      events,
      description: input.description ?? null,
      createdAt: now,
      updatedAt: now,
    });
    return { id, userId: caller.id, url: input.url, secret, events, isActive: true, createdAt: now };
  });
}

/** Locks the user's row for the transaction, so that concurrent creations are counted one after the other. */
async function reserveWebhook(ctx: Context, caller: Caller, id: string) {
  const { limits } = await lockPlanLimits(ctx, caller.id);
  if ((await ctx.db.$count(endpoints, eq(endpoints.id, id))) > 0) {
    throw new AppError('conflict', 'This webhook exists already.');
  }
  const used = await ctx.db.$count(endpoints, and(eq(endpoints.userId, caller.id), isSubscription));
  for (const limit of [limits.webhooks, MAX_WEBHOOKS]) {
    if (used >= limit) throw quotaExceededError({ resource: 'webhooks', used, limit, resetAt: null });
  }
}

/** Runs under the lock of `reserveWebhook`: the unique index alone compares secrets under one encryption key only. */
async function assertUnused(ctx: Context, caller: Caller, secret: string) {
  if (!isPathSafe(secret)) return;
  const mine = and(
    eq(endpoints.userId, caller.id),
    inArray(endpoints.secretLookup, listBlindIndexes(ctx, caller.id, secret)),
  );
  if ((await ctx.db.$count(endpoints, mine)) === 0) return;
  throw new AppError('conflict', 'One of your webhooks already has this secret; their inbound URLs would be the same.');
}

/** `isActive: true` also clears `failed`. Managed webhooks accept nothing else. Throws 400, 404, 409, 412. */
export async function changeWebhook(
  ctx: Context,
  caller: Caller,
  id: string,
  input: ChangeWebhookInput,
  expected: ExpectedRevisions = null,
) {
  const { url, events, description, isActive } = input;
  if (url !== undefined) assertReachable(ctx, 'url', url);
  const onlySwitches = url === undefined && events === undefined && description === undefined;
  return inTransaction(ctx, async (tx) => {
    if (isActive !== undefined) {
      await setNotifyWebhook(tx, caller, id, isActive);
      await endDeliveriesIfFailed(tx, sql`h.id = ${id} and h.user_id = ${caller.id}`);
    }
    const [webhook] = await tx.db
      .update(endpoints)
      .set({
        // A new receiver has no attempts yet.
        ...(url === undefined ? {} : { url, lastAttemptOk: null }),
        ...(events === undefined ? {} : { events: unique(events) }),
        ...(description === undefined ? {} : { description }),
        ...(isActive === undefined ? {} : { status: isActive ? 'active' : 'inactive' }),
        updatedAt: tx.now(),
      })
      .where(
        and(
          isOwnWebhook(caller, id),
          onlySwitches ? undefined : isSubscription,
          hasRevision(endpoints.revision, expected),
        ),
      )
      .returning(webhookFields);
    afterCommit(tx, () => tx.worker.wakeDeliveries());
    if (!webhook) throw await explainRefusal(tx, caller, id, { isAllowed: onlySwitches });
    return webhook;
  });
}

/** `users.notify_webhook` and the account webhook's state are one switch. Locks the user first, as the settings do. */
async function setNotifyWebhook(ctx: Context, caller: Caller, id: string, notifyWebhook: boolean) {
  const ofAccount = sql`exists (select from endpoints w
    where w.id = ${id} and w.user_id = "users"."id" and w.purpose = 'account')`;
  await ctx.db
    .update(users)
    .set({ notifyWebhook })
    .where(and(eq(users.id, caller.id), ofAccount));
}

/** Throws 404, 412, or 409 for a managed webhook. */
export async function deleteWebhook(
  ctx: Context,
  caller: Caller,
  id: string,
  expected: ExpectedRevisions = null,
): Promise<void> {
  await inTransaction(ctx, async (tx) => {
    const mine = and(isOwnWebhook(caller, id), isSubscription, hasRevision(endpoints.revision, expected));
    const { count } = await tx.db.delete(endpoints).where(mine);
    if (count === 0) throw await explainRefusal(tx, caller, id, { isAllowed: false });
  });
}

/**
 * The error of a change that has found no row: 404 if there is no such webhook, 409 unless managed webhooks allow the
 * change, otherwise 412.
 */
async function explainRefusal(ctx: Context, caller: Caller, id: string, { isAllowed }: { isAllowed: boolean }) {
  const { taskId, purpose } = await getWebhook(ctx, caller, id);
  if (isAllowed || purpose === 'subscription') return preconditionFailed();
  const owner = taskId === null ? 'your settings' : `the task ${taskId}`;
  return new AppError('conflict', `This is the webhook of ${owner}: change its \`webhookUrl\` there.`);
}

/** The replaced secret signs beside the new one for 24 hours. Throws 404, and 409 unless `version` is the secret's. */
export function rotateSecret(
  ctx: Context,
  caller: Caller,
  id: string,
  version: string | null = null,
): Promise<{ id: string; secret: string }> {
  return inTransaction(ctx, async (tx) => {
    const [current] = await tx.db
      .select({ ciphertext: endpoints.secretEncrypted, purpose: endpoints.purpose, version: secretVersion })
      .from(endpoints)
      .where(isOwnWebhook(caller, id))
      .for('no key update');
    if (!current) throw webhookNotFound();
    if (version !== null && version !== current.version) {
      throw new AppError('conflict', 'The secret was rotated meanwhile.');
    }
    const secret = generateSecret();
    const now = tx.now();
    const columns =
      current.purpose === 'subscription' ? encryptSecret(ctx, id, secret) : encryptUnindexedSecret(ctx, id, secret);
    await tx.db
      .update(endpoints)
      .set({
        ...columns,
        previousSecretEncrypted: encryptReplacedSecret(ctx, id, current.ciphertext),
        previousSecretUntil: new Date(now.getTime() + PREVIOUS_SECRET_MS),
        updatedAt: now,
      })
      .where(eq(endpoints.id, id));
    return { id, secret };
  });
}

/** Null if its encryption key is no longer configured: rotating is how the owner recovers from that. */
function encryptReplacedSecret(ctx: Context, id: string, ciphertext: string): string | null {
  try {
    return encryptPreviousSecret(ctx, id, decryptSecret(ctx, id, ciphertext));
  } catch (error) {
    ctx.log.error({ err: error, webhookId: id }, 'decrypting the replaced secret of a webhook failed');
    return null;
  }
}

/** Sends an event to a webhook at once. Throws 404, 503. */
export const testWebhook = (ctx: Context, caller: Caller, id: string): Promise<TestResult> =>
  sendTest(ctx, caller, { receiver: ownWebhook(caller, id), toEntry: (entry) => entry });

const unique = (events: readonly EventKind[]): EventKind[] => [...new Set(events)];
