import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/events';
import type { ChangeWebhookInput, CreateWebhookInput } from '@carillon/contract/webhooks';
import { settings, users, webhooks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import { afterCommit, type Caller, type Context, inTransaction } from '../context.ts';
import { invalidField, Refusal } from '../errors.ts';
import { limitsOf } from '../limits/plans.ts';
import { overQuota } from '../limits/quotas.ts';
import { isOwn, refuseWebhook, webhookFields } from './read.ts';
import { newSecret, openSecret, sealPrevious, sealSecret } from './secret.ts';

/** Specification "Input limits": webhooks per user, whatever the plan. */
const MOST_WEBHOOKS = 10;
/** How long a secret goes on signing beside the one that replaced it. */
const PREVIOUS_SIGNS_MS = 24 * 60 * 60 * 1000;

/**
 * Subscribes an address to events and returns the webhook with its secret, which is never shown again. Refusals: 400
 * for an address that may not be reached, 402 beyond the plan's limit or the 10 of everybody (decisions §8).
 */
export async function createWebhook(ctx: Context, caller: Caller, input: CreateWebhookInput) {
  assertReachable(ctx, input.url);
  const id = randomUUID();
  const secret = newSecret();
  return inTransaction(ctx, async (tx) => {
    await reserveWebhook(tx, caller);
    const now = tx.now();
    const events = unique(input.events);
    await tx.db.insert(webhooks).values({
      id,
      userId: caller.id,
      url: input.url,
      ...sealSecret(ctx, id, secret),
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
  const [state] = await ctx.db
    .select({
      plan: users.plan,
      role: users.role,
      maxTasksPerUser: settings.maxTasksPerUser,
      maxExecutionsPerDay: settings.maxExecutionsPerDay,
    })
    .from(users)
    .crossJoin(settings)
    .where(eq(users.id, caller.id))
    .for('no key update', { of: users });
  if (!state) throw new Refusal('unauthenticated', 'This account does not exist any more.');
  // A statement of its own, begun after the lock was had: it sees what others have committed.
  const used = await ctx.db.$count(webhooks, eq(webhooks.userId, caller.id));
  for (const limit of [limitsOf(state, state).webhooks, MOST_WEBHOOKS]) {
    if (used >= limit) throw overQuota({ resource: 'webhooks', used, limit, resetAt: null });
  }
}

/**
 * Changes a webhook of the caller's. `isActive` true also clears `failed`; while it is false the open deliveries wait.
 * Refusals: 400 for an address that may not be reached, 404.
 */
export async function changeWebhook(ctx: Context, caller: Caller, id: string, input: ChangeWebhookInput) {
  if (input.url !== undefined) assertReachable(ctx, input.url);
  const [webhook] = await ctx.db
    .update(webhooks)
    .set({
      // Another receiver has yet to prove itself.
      ...(input.url === undefined ? {} : { url: input.url, lastAttemptOk: null }),
      ...(input.events === undefined ? {} : { events: unique(input.events) }),
      ...(input.description === undefined ? {} : { description: input.description }),
      ...(input.isActive === undefined ? {} : { status: input.isActive ? 'active' : 'inactive' }),
      updatedAt: ctx.now(),
    })
    .where(isOwn(caller, id))
    .returning(webhookFields);
  if (!webhook) return refuseWebhook();
  afterCommit(ctx, () => ctx.worker.nudgeDeliveries());
  return webhook;
}

/** Deletes a webhook of the caller's with its deliveries and its log. Refusal: 404. */
export async function deleteWebhook(ctx: Context, caller: Caller, id: string): Promise<void> {
  const gone = await inTransaction(ctx, (tx) =>
    tx.db.delete(webhooks).where(isOwn(caller, id)).returning({ id: webhooks.id }),
  );
  if (gone.length === 0) refuseWebhook();
}

/**
 * Gives a webhook of the caller's a new secret. The one before goes on signing for 24 hours beside it, while the inbound
 * address that contains it is gone at once. Refusal: 404.
 */
export function rotateSecret(ctx: Context, caller: Caller, id: string): Promise<{ id: string; secret: string }> {
  return inTransaction(ctx, async (tx) => {
    const [before] = await tx.db
      .select({ sealed: webhooks.secretSealed })
      .from(webhooks)
      .where(isOwn(caller, id))
      .for('no key update');
    if (!before) return refuseWebhook();
    const secret = newSecret();
    const now = tx.now();
    await tx.db
      .update(webhooks)
      .set({
        ...sealSecret(ctx, id, secret),
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
    return sealPrevious(ctx, id, openSecret(ctx, id, sealed));
  } catch (error) {
    ctx.log.error({ err: error, webhookId: id }, 'the secret before cannot go on signing');
    return null;
  }
}

/** Only the address itself is looked at: what its name leads to may be another host tomorrow, and is checked each time. */
function assertReachable(ctx: Context, url: string) {
  const problem = ctx.http.checkAddress(url);
  if (problem !== null) throw invalidField('url', problem);
}

const unique = (events: readonly EventKind[]): EventKind[] => [...new Set(events)];
