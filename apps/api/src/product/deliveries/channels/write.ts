import { randomUUID } from 'node:crypto';
import type { ChangeChannelInput, CreateChannelInput } from '@carillon/contract/channels/channels';
import { type ChannelKind, endpoints } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { generateLinkToken, hashLinkToken } from '../../../lib/crypto/tokens.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { lockPlanLimits } from '../../../platform/limits/plan-limits.ts';
import { quotaExceededError } from '../../../platform/limits/quotas.ts';
import { assertRevision, type ExpectedRevisions } from '../../../platform/queries/revision.ts';
import { afterCommit, inTransaction } from '../../../transaction.ts';
import { CHANNEL_SENDERS } from '../messages/kinds/index.ts';
import type { ChannelSettings } from '../messages/sender.ts';
import { TASK_EVENTS } from '../queue/endpoint.ts';
import { reconsiderHeld } from '../queue/held/release.ts';
import { endDeliveriesIfFailed } from '../queue/leases.ts';
import { decryptSecret, encryptUnindexedSecret } from '../queue/secret.ts';
import { requestChannelConfirmation } from './confirm.ts';
import { channelFields, channelNotFound, getChannel, isChannel, isOwnChannel } from './read.ts';
import { hasSettings, mergePacing, mergeSettings, PACING_FIELDS } from './settings.ts';

const MAX_CHANNELS = 20;

/** Returns what may be shown of the channel. Throws 400, 402, and 409 if `id` is taken. */
export function createChannel(ctx: Context, caller: Caller, input: CreateChannelInput, id: string = randomUUID()) {
  const { kind, name } = input;
  const settings = addUnsubscribeToken(mergeSettings(ctx, kind, input));
  const pacing = mergePacing(caller, kind, input);
  return inTransaction(ctx, async (tx) => {
    await reserveChannel(tx, caller, id);
    const now = tx.now();
    await tx.db.insert(endpoints).values({
      id,
      userId: caller.id,
      purpose: 'channel',
      kind,
      name,
      events: TASK_EVENTS,
      ...pacing,
      ...toColumns(tx, id, kind, settings),
      createdAt: now,
      updatedAt: now,
    });
    const { address } = settings;
    if (address !== undefined) await requestChannelConfirmation(tx, caller, { id, address });
    await recordAudit(tx, {
      kind: 'channel.created',
      ...describeActor(caller),
      details: { channelId: id, kind, name },
    });
    return getChannel(tx, caller, id);
  });
}

/** Locks the user's row for the transaction, so that concurrent creations are counted one after the other. */
async function reserveChannel(ctx: Context, caller: Caller, id: string) {
  await lockPlanLimits(ctx, caller.id);
  if ((await ctx.db.$count(endpoints, eq(endpoints.id, id))) > 0) {
    throw new AppError('conflict', 'This channel exists already.');
  }
  const used = await ctx.db.$count(endpoints, and(eq(endpoints.userId, caller.id), isChannel));
  if (used >= MAX_CHANNELS) {
    throw quotaExceededError({ resource: 'channels', used, limit: MAX_CHANNELS, resetAt: null });
  }
}

/** A new address gets a link of its own that ends its mails. */
const addUnsubscribeToken = (settings: ChannelSettings): ChannelSettings =>
  settings.address === undefined ? settings : { ...settings, unsubscribeToken: generateLinkToken() };

/** The columns of the settings. A new receiver has no attempts yet. */
function toColumns(ctx: Context, id: string, kind: ChannelKind, settings: ChannelSettings) {
  const { shown, url } = CHANNEL_SENDERS[kind].show(settings);
  const { unsubscribeToken: token } = settings;
  return {
    url,
    shownSettings: shown,
    ...encryptUnindexedSecret(ctx, id, JSON.stringify(settings)),
    unsubscribeHash: token === undefined ? null : hashLinkToken(token),
    lastAttemptOk: null,
  };
}

/**
 * Settings that are left out stay. `isActive: true` also clears `failed`, and asks an unconfirmed address again. Throws 400,
 * 404, 412.
 */
export function changeChannel(
  ctx: Context,
  caller: Caller,
  id: string,
  input: ChangeChannelInput,
  expected: ExpectedRevisions = null,
) {
  const { name, isActive } = input;
  return inTransaction(ctx, async (tx) => {
    await endDeliveriesIfFailed(tx, sql`h.id = ${id} and h.user_id = ${caller.id} and h.purpose = 'channel'`);
    const [found] = await tx.db
      .select({ ...channelFields, ciphertext: endpoints.secretEncrypted })
      .from(endpoints)
      .where(isOwnChannel(caller, id))
      .for('no key update');
    if (!found) throw channelNotFound();
    const { ciphertext, ...before } = found;
    assertRevision(before, expected);
    const changed = Object.keys(input);
    if (changed.length === 0) return before;

    const settings = hasSettings(input) ? changeSettings(tx, before, ciphertext, input) : null;
    const pacing = mergePacing(caller, before.kind, input, before);
    await tx.db
      .update(endpoints)
      .set({
        ...(name === undefined ? {} : { name }),
        ...(isActive === undefined ? {} : { status: isActive ? 'active' : 'inactive' }),
        ...pacing,
        // The revision changes with secrets, which the row does not show.
        ...(settings === null
          ? {}
          : { ...toColumns(tx, id, before.kind, settings), revision: sql`${endpoints.revision} + 1` }),
        updatedAt: tx.now(),
      })
      .where(eq(endpoints.id, id));
    await confirmAddress(tx, caller, before, { address: settings?.address, isActive });
    if (isActive !== undefined || PACING_FIELDS.some((field) => field in input)) await reconsiderHeld(tx, id);
    const details = { channelId: id, kind: before.kind, name: name ?? before.name, changed };
    await recordAudit(tx, { kind: 'channel.changed', ...describeActor(caller), details });
    afterCommit(tx, () => tx.worker.wakeDeliveries());
    return getChannel(tx, caller, id);
  });
}

/** Asks for a confirmation of a new address, and again where the channel is switched on. */
async function confirmAddress(
  ctx: Context,
  caller: Caller,
  { id, settings, isActive: wasActive, isConfirmed }: Before,
  { address = settings.address, isActive }: { address: unknown; isActive: boolean | undefined },
): Promise<void> {
  const isMoved = address !== settings.address;
  if (typeof address !== 'string' || !(isMoved || isActive)) return;
  const isWanted = isActive ?? (wasActive || !isConfirmed);
  await requestChannelConfirmation(ctx, caller, { id, address, isWanted, again: isActive === true });
}

type Before = Awaited<ReturnType<typeof getChannel>>;

function changeSettings(
  ctx: Context,
  { id, kind, settings: shown }: Before,
  ciphertext: string,
  input: ChangeChannelInput,
) {
  const merged = mergeSettings(ctx, kind, input, openSettings(ctx, id, ciphertext));
  return merged.address === shown.address ? merged : addUnsubscribeToken(merged);
}

/** Empty if the encryption key is no longer configured: giving all settings again is how the owner recovers. */
function openSettings(ctx: Context, id: string, ciphertext: string): ChannelSettings {
  try {
    return JSON.parse(decryptSecret(ctx, id, ciphertext)) as ChannelSettings;
  } catch (error) {
    ctx.log.error({ err: error, channelId: id }, 'decrypting the settings of a channel failed');
    return {};
  }
}
