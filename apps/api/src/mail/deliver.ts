import { mails } from '@carillon/db';
import { and, asc, eq, inArray, isNull, lte, or, sql } from 'drizzle-orm';
import { issueReset } from '../auth/password-reset.ts';
import type { Context } from '../context.ts';
import { decryptBody } from './queue.ts';
import type { MailOutcome } from './transport.ts';

const AT_ONCE = 10;
/** Longer than the mail server is waited for: while it lasts no other process sends the mail too. */
const LEASE_MS = 120_000;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Waits after the first failures. Then every hour, so that mail is not long behind a server that came back. */
const WAITS_MS = [30 * SECOND_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS];
const GIVE_UP_AFTER_MS = 24 * HOUR_MS;
/** What a mail server is about to confirm when the process stops is waited for; the rest is sent again. */
const STOP_GRACE_MS = 5 * SECOND_MS;

type Waiting = Pick<
  typeof mails.$inferSelect,
  'id' | 'kind' | 'recipient' | 'subject' | 'bodySealed' | 'attempt' | 'createdAt'
>;

/**
 * Sends the mail that is due, a few at once, until none is left or the process stops. A mail that the server does not
 * take is tried for a day, and given up at once when it is refused for good. At least once: one that was sent by a
 * process which died before it could note so is sent again. Any number of processes may deliver at once.
 */
export async function deliverDueMails(ctx: Context, { graceMs = STOP_GRACE_MS } = {}): Promise<void> {
  const { stopping } = ctx.worker;
  const hurry = new AbortController();
  const begin = () => setTimeout(() => hurry.abort(), graceMs).unref();
  stopping.addEventListener('abort', begin, { once: true });
  try {
    while (!stopping.aborted) {
      await dropMoot(ctx);
      const claimed = await claimDue(ctx);
      await Promise.all(claimed.map((mail) => deliver(ctx, mail, hurry.signal)));
      if (claimed.length < AT_ONCE) return;
    }
  } finally {
    stopping.removeEventListener('abort', begin);
  }
}

const isDue = (now: Date) =>
  and(lte(mails.nextAttemptAt, now), or(isNull(mails.leaseUntil), lte(mails.leaseUntil, now)));

/** Resets that were asked for in vain: no active account has the address, or a later request waits for the same one. */
async function dropMoot(ctx: Context) {
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

async function claimDue(ctx: Context): Promise<Waiting[]> {
  const now = ctx.now();
  const due = ctx.db
    .$with('due')
    .as(
      ctx.db
        .select({ id: mails.id })
        .from(mails)
        .where(isDue(now))
        .orderBy(asc(mails.nextAttemptAt), asc(mails.id))
        .limit(AT_ONCE)
        .for('update', { skipLocked: true }),
    );
  const { id, kind, recipient, subject, bodySealed, attempt, createdAt } = mails;
  return ctx.db
    .with(due)
    .update(mails)
    .set({ attempt: sql`${mails.attempt} + 1`, leaseUntil: new Date(now.getTime() + LEASE_MS) })
    .where(inArray(mails.id, ctx.db.select({ id: due.id }).from(due)))
    .returning({ id, kind, recipient, subject, bodySealed, attempt, createdAt });
}

/** One mail, start to end. What cannot even be composed or noted waits for the end of its lease. */
async function deliver(ctx: Context, mail: Waiting, hurry: AbortSignal) {
  try {
    const composed = await compose(ctx, mail);
    if (!composed) {
      await ctx.db.delete(mails).where(isOurs(mail));
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
      const outcome = await ctx.mail.send({ at: ctx.now(), to, subject, ...message }, hurry);
      if (!outcome.ok) span.fail(outcome.permanent ? 'refused' : 'not_sent');
      await settle(ctx, mail, outcome, userId);
    });
  } catch (error) {
    ctx.log.error({ err: error, mailId: mail.id }, 'a mail was left to its lease');
  }
}

/** A reset has a new token at every attempt: however long the mail server was away, the link is good for an hour. */
async function compose(ctx: Context, { id, kind, recipient, bodySealed, attempt }: Waiting) {
  if (kind === 'message') return { id, userId: undefined, text: decryptBody(ctx, id, bodySealed ?? '') };
  const reset = await issueReset(ctx, recipient);
  return reset && { id: `${id}-${attempt}`, ...reset };
}

async function settle(ctx: Context, mail: Waiting, outcome: MailOutcome, userId?: number) {
  const now = ctx.now();
  const ended = { nextAttemptAt: null, leaseUntil: null, bodySealed: null };
  const note = { mailId: mail.id, kind: mail.kind, attempt: mail.attempt };
  if (outcome.ok) {
    await ctx.db
      .update(mails)
      .set({ ...ended, userId, sentAt: now, error: null })
      .where(isOurs(mail));
    ctx.log.info(note, 'mail sent');
    return;
  }
  const { error, permanent } = outcome;
  const nextAttemptAt = new Date(now.getTime() + (WAITS_MS[mail.attempt - 1] ?? HOUR_MS));
  if (permanent || nextAttemptAt.getTime() > mail.createdAt.getTime() + GIVE_UP_AFTER_MS) {
    await ctx.db
      .update(mails)
      .set({ ...ended, userId, failedAt: now, error })
      .where(isOurs(mail));
    ctx.log.error({ ...note, reason: error }, 'mail given up');
    return;
  }
  await ctx.db.update(mails).set({ userId, nextAttemptAt, leaseUntil: null, error }).where(isOurs(mail));
  ctx.log.warn({ ...note, reason: error, nextAttemptAt }, 'mail not sent');
}

/** The number of the attempt is our claim: a slow process does not undo what another one has noted since. */
const isOurs = ({ id, attempt }: Waiting) => and(eq(mails.id, id), eq(mails.attempt, attempt));
