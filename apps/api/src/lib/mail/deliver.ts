import { type Db, mails } from '@carillon/db';
import { and, asc, eq, isNull, lte, or, sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import { drainDueRows, selectDueRows } from '../queue/due-rows.ts';
import { leaseUntil } from '../queue/leases.ts';
import type { Trace } from '../telemetry/tracing.ts';
import { findLink } from './links.ts';
import { decryptBody, type QueueContext } from './queue.ts';
import type { Mail, MailOutcome } from './transport.ts';

const BATCH_SIZE = 10;
/** Longer than one attempt can last. */
const LEASE_MS = 120_000;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const RETRY_DELAYS_MS = [30 * SECOND_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS];
const MAX_AGE_MS = 24 * HOUR_MS;
const STOP_GRACE_MS = 5 * SECOND_MS;

interface DeliveryContext extends QueueContext {
  log: Logger;
  trace: Trace;
  mail: Mail;
  worker: { readonly stopping: AbortSignal };
}

interface DeliveryOptions {
  /** Null if no active account has the address. */
  composeReset(address: string): Promise<{ userId: number; link: string; subject: string; text: string } | null>;
  /** Runs `write`, which ends the mail of an alert as failed, and reports it in one transaction. */
  failAlert(mail: FailedMail, write: (db: Db) => Promise<boolean>): Promise<void>;
  /** Runs `work` in a transaction: the plans of its statements do not depend on when they were prepared. */
  transact<T>(work: (db: Db) => Promise<T>): Promise<T>;
  graceMs?: number;
}

interface FailedMail {
  id: string;
  alertId: number;
  error: string;
}

type QueuedMail = Pick<
  typeof mails.$inferSelect,
  'id' | 'kind' | 'recipient' | 'subject' | 'bodyEncrypted' | 'attempt' | 'alertId' | 'createdAt'
>;

/** At least once each, with retries for a day. Any number of processes may deliver at once. */
export async function deliverDueMails(ctx: DeliveryContext, options: DeliveryOptions): Promise<void> {
  await drainDueRows({
    batchSize: BATCH_SIZE,
    stopping: ctx.worker.stopping,
    graceMs: options.graceMs ?? STOP_GRACE_MS,
    claim: () =>
      options.transact(async (db) => {
        // Each process asks once a second, mostly in vain.
        const [due] = await db.select({ id: mails.id }).from(mails).where(isDue(ctx.now())).limit(1);
        if (!due) return [];
        await deleteStaleResets({ ...ctx, db });
        return claimDueMails({ ...ctx, db });
      }),
    async work(mail, signal) {
      await deliver(ctx, mail, options, signal);
      return true;
    },
  });
}

const isDue = (now: Date) =>
  and(lte(mails.nextAttemptAt, now), or(isNull(mails.leaseUntil), lte(mails.leaseUntil, sql`now()`)));

/** Deletes resets without an active account, or replaced by a later request. */
async function deleteStaleResets(ctx: DeliveryContext) {
  await ctx.db.delete(mails).where(
    and(
      eq(mails.kind, 'password_reset'),
      isDue(ctx.now()),
      sql`(not exists (select from users u where lower(u.email) = ${mails.recipient} and u.is_active)
        or exists (select from mails later where later.kind = 'password_reset' and later.next_attempt_at is not null
          and later.recipient = ${mails.recipient}
          and (later.created_at, later.id) > (${mails.createdAt}, ${mails.id})))`,
    ),
  );
}

/** Plan: `mails_due` in order. */
async function claimDueMails(ctx: DeliveryContext): Promise<QueuedMail[]> {
  const now = ctx.now();
  const { due, isClaimed } = selectDueRows(ctx.db, {
    id: mails.id,
    where: isDue(now),
    orderBy: [asc(mails.nextAttemptAt), asc(mails.id)],
    limit: BATCH_SIZE,
  });
  const { id, kind, recipient, subject, bodyEncrypted, attempt, alertId, createdAt } = mails;
  return ctx.db
    .with(due)
    .update(mails)
    .set({ attempt: sql`${mails.attempt} + 1`, leaseUntil: leaseUntil(LEASE_MS) })
    .where(isClaimed)
    .returning({ id, kind, recipient, subject, bodyEncrypted, attempt, alertId, createdAt });
}

async function deliver(ctx: DeliveryContext, mail: QueuedMail, options: DeliveryOptions, signal: AbortSignal) {
  try {
    const composed = await compose(ctx, mail, options);
    if (!composed) {
      await options.transact((db) => db.delete(mails).where(isClaimedBy(mail)));
      return;
    }
    const { userId, ...message } = composed;
    const { recipient: to, subject } = mail;
    const attributes = {
      'carillon.mail.id': mail.id,
      'carillon.mail.kind': mail.kind,
      'carillon.attempt': mail.attempt,
    };
    await ctx.trace.span('send mail', attributes, async (span) => {
      const outcome = await ctx.mail.send({ at: ctx.now(), to, subject, ...message }, signal);
      if (!outcome.ok) span.fail(outcome.permanent ? 'refused' : 'not_sent');
      await complete(ctx, mail, outcome, options, userId);
    });
  } catch (error) {
    ctx.log.error({ err: error, mailId: mail.id }, 'delivering a mail failed: retried when its lease expires');
  }
}

/** Each attempt gets a new token: its link is valid for an hour from then. */
async function compose(ctx: DeliveryContext, mail: QueuedMail, { composeReset }: DeliveryOptions) {
  const { id, kind, recipient, bodyEncrypted, attempt } = mail;
  if (kind === 'message') {
    const text = decryptBody(ctx, id, bodyEncrypted ?? '');
    return { id, userId: undefined, text, link: findLink(text) };
  }
  const reset = await composeReset(recipient);
  return reset && { id: `${id}-${attempt}`, ...reset };
}

async function complete(
  ctx: DeliveryContext,
  mail: QueuedMail,
  outcome: MailOutcome,
  options: DeliveryOptions,
  userId?: number,
) {
  const now = ctx.now();
  const updateIn = async (db: Db, values: Partial<typeof mails.$inferInsert>) => {
    const { count } = await db
      .update(mails)
      .set({ userId, leaseUntil: null, ...values })
      .where(isClaimedBy(mail));
    return count > 0;
  };
  const update = (values: Partial<typeof mails.$inferInsert>) => options.transact((db) => updateIn(db, values));
  const fields = { mailId: mail.id, kind: mail.kind, attempt: mail.attempt };
  if (outcome.ok) {
    await update({ nextAttemptAt: null, bodyEncrypted: null, sentAt: now, error: null });
    ctx.log.info(fields, 'mail sent');
    return;
  }
  const { error, permanent } = outcome;
  const nextAttemptAt = new Date(now.getTime() + (RETRY_DELAYS_MS[mail.attempt - 1] ?? HOUR_MS));
  if (permanent || nextAttemptAt.getTime() > mail.createdAt.getTime() + MAX_AGE_MS) {
    const fail = (db: Db) => updateIn(db, { nextAttemptAt: null, bodyEncrypted: null, failedAt: now, error });
    const { id, alertId } = mail;
    await (alertId === null ? options.transact(fail) : options.failAlert({ id, alertId, error }, fail));
    ctx.log.error({ ...fields, reason: error }, 'mail failed');
    return;
  }
  await update({ nextAttemptAt, error });
  ctx.log.warn({ ...fields, reason: error, nextAttemptAt }, 'mail not sent');
}

/** The attempt number serves as the claim token: a slow process cannot overwrite a later attempt. */
const isClaimedBy = ({ id, attempt }: QueuedMail) => and(eq(mails.id, id), eq(mails.attempt, attempt));
