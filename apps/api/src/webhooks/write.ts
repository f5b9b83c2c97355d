import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/events';
import type { ChangeWebhookInput, CreateWebhookInput } from '@carillon/contract/webhooks';
import { users, webhooks } from '@carillon/db';
import { and, eq, inArray, sql } from 'drizzle-orm';
import { afterCommit, type Caller, type Context, inTransaction } from '../context.ts';
import { AppError, invalidField } from '../errors.ts';
import { lockPlanLimits } from '../limits/plan-limits.ts';
import { quotaExceededError } from '../limits/quotas.ts';
import { assertReachable } from './address.ts';
import { getWebhook, isOwn, refuseWebhook, webhookFields } from './read.ts';
import {
  decryptSecret,
  encryptChosenSecret,
  encryptPreviousSecret,
  encryptSecret,
  encryptUnlisted,
  isPathSafe,
  isReadable,
  listBlindIndexes,
  newSecret,
} from './secret.ts';

/** Specification "Input limits": webhooks per user, whatever the plan. */
const MOST_WEBHOOKS = 10;
/** How long a secret goes on signing beside the one that replaced it. */
const PREVIOUS_SIGNS_MS = 24 * 60 * 60 * 1000;

/** Those that count against the limits, and that are changed and deleted here; the others go with their address. */
const isSubscription = eq(webhooks.purpose, 'subscription');

/**
 * Subscribes an address to events and returns the webhook with its secret, one of the caller's own where it is given,
 * which is never shown again. Refusals: 400 for an address that may not be reached and a secret that receivers could not
 * read, 402 beyond the plan's limit or the 10 of everybody (decisions §8), 409 for a secret whose inbound address
 * another webhook of the caller's has.
 */
export async function createWebhook(ctx: Context, caller: Caller, input: CreateWebhookInput) {
  assertReachable(ctx, 'url', input.url);
  const id = randomUUID();
  const secret = input.secret ?? newSecret();
  if (!isReadable(secret)) throw invalidField('secret', 'must be base64, padded, after whsec_');
  return inTransaction(ctx, async (tx) => {
    await reserveWebhook(tx, caller);
    const isChosen = input.secret !== undefined;
    if (isChosen) await assertUnused(tx, caller, secret);
    const now = tx.now();
    const events = unique(input.events);
    await tx.db.insert(webhooks).values({
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

/** The user's row stays locked until the end, so no two creations see the same last place. */
async function reserveWebhook(ctx: Context, caller: Caller) {
  const { limits } = await lockPlanLimits(ctx, caller.id);
  const used = await ctx.db.$count(webhooks, and(eq(webhooks.userId, caller.id), isSubscription));
  for (const limit of [limits.webhooks, MOST_WEBHOOKS]) {
    if (used >= limit) throw quotaExceededError({ resource: 'webhooks', used, limit, resetAt: null });
  }
}

/** Under the lock of `reserveWebhook`, so no two creations take one secret; the index alone knows it under one key only. */
async function assertUnused(ctx: Context, caller: Caller, secret: string) {
  if (!isPathSafe(secret)) return;
  const mine = and(
    eq(webhooks.userId, caller.id),
    inArray(webhooks.secretLookup, listBlindIndexes(ctx, caller.id, secret)),
  );
  if ((await ctx.db.$count(webhooks, mine)) === 0) return;
  throw new AppError('conflict', 'You have a webhook with this secret: their inbound addresses would be the same.');
}

/**
 * Changes a webhook of the caller's. `isActive` true also clears `failed`; while it is false the open deliveries wait.
 * That is all that can be changed of the webhook of a task or of the settings. Refusals: 400 for an address that may not
 * be reached, 404, 409.
 */
export async function changeWebhook(ctx: Context, caller: Caller, id: string, input: ChangeWebhookInput) {
  const { url, events, description, isActive } = input;
  if (url !== undefined) assertReachable(ctx, 'url', url);
  const isSwitch = url === undefined && events === undefined && description === undefined;
  return inTransaction(ctx, async (tx) => {
    if (isActive !== undefined) await preferWebhook(tx, caller, id, isActive);
    const [webhook] = await tx.db
      .update(webhooks)
      .set({
        // Another receiver has yet to prove itself.
        ...(url === undefined ? {} : { url, lastAttemptOk: null }),
        ...(events === undefined ? {} : { events: unique(events) }),
        ...(description === undefined ? {} : { description }),
        ...(isActive === undefined ? {} : { status: isActive ? 'active' : 'inactive' }),
        updatedAt: tx.now(),
      })
      .where(and(isOwn(caller, id), isSwitch ? undefined : isSubscription))
      .returning(webhookFields);
    afterCommit(tx, () => tx.worker.wakeDeliveries());
    return webhook ?? refuseOwn(tx, caller, id);
  });
}

/** The webhook of the settings and what they say of it are one switch. The account's row first, as settings lock it. */
async function preferWebhook(ctx: Context, caller: Caller, id: string, notifyWebhook: boolean) {
  const ofAccount = sql`exists (select from webhooks w
    where w.id = ${id} and w.user_id = "users"."id" and w.purpose = 'account')`;
  await ctx.db
    .update(users)
    .set({ notifyWebhook })
    .where(and(eq(users.id, caller.id), ofAccount));
}

/** Deletes a webhook of the caller's with its deliveries and its log. Refusals: 404, 409 for that of a task or the settings. */
export async function deleteWebhook(ctx: Context, caller: Caller, id: string): Promise<void> {
  await inTransaction(ctx, async (tx) => {
    const mine = and(isOwn(caller, id), isSubscription);
    const gone = await tx.db.delete(webhooks).where(mine).returning({ id: webhooks.id });
    if (gone.length === 0) await refuseOwn(tx, caller, id);
  });
}

/** Refuses what is done where the address is set; 404 where there is no such webhook at all. */
async function refuseOwn(ctx: Context, caller: Caller, id: string): Promise<never> {
  const { taskId } = await getWebhook(ctx, caller, id);
  const place = taskId === null ? 'your settings' : `the task ${taskId}`;
  throw new AppError('conflict', `This is the webhook of ${place}: change its \`webhookUrl\` there.`);
}

/**
 * Gives a webhook of the caller's a new secret. The one before goes on signing for 24 hours beside it, while the inbound
 * address that contains it is gone at once. Refusal: 404.
 */
export function rotateSecret(ctx: Context, caller: Caller, id: string): Promise<{ id: string; secret: string }> {
  return inTransaction(ctx, async (tx) => {
    const [before] = await tx.db
      .select({ sealed: webhooks.secretSealed, purpose: webhooks.purpose })
      .from(webhooks)
      .where(isOwn(caller, id))
      .for('no key update');
    if (!before) return refuseWebhook();
    const secret = newSecret();
    const now = tx.now();
    const sealed =
      before.purpose === 'subscription' ? encryptSecret(ctx, id, secret) : encryptUnlisted(ctx, id, secret);
    await tx.db
      .update(webhooks)
      .set({
        ...sealed,
        previousSecretSealed: keepSigning(ctx, id, before.sealed),
        previousSecretUntil: new Date(now.getTime() + PREVIOUS_SIGNS_MS),
        updatedAt: now,
      })
      .where(eq(webhooks.id, id));
    return { id, secret };
  });
}

/** The secret before, as it is kept; null when its sealing key is gone, which a rotation is the cure for. */
function keepSigning(ctx: Context, id: string, sealed: string): string | null {
  try {
    return encryptPreviousSecret(ctx, id, decryptSecret(ctx, id, sealed));
  } catch (error) {
    ctx.log.error({ err: error, webhookId: id }, 'the secret before cannot go on signing');
    return null;
  }
}

const unique = (events: readonly EventKind[]): EventKind[] => [...new Set(events)];
