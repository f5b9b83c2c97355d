import { randomUUID } from 'node:crypto';
import { mails } from '@carillon/db';
import { toStorableText } from '@carillon/db/storable-text';
import type { SQL } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { columnAad } from '../crypto/encrypted-columns.ts';
import { decrypt, encrypt } from '../crypto/encryption.ts';

export interface NewMail {
  to: string;
  /** Made one line: what users call their tasks may stand in it. */
  subject: string;
  text: string;
  /** Whose account it is about: it goes when the account goes. */
  userId?: number;
}

/** Queues a mail in the caller's transaction: it is sent if and only if that is committed, and then at least once. */
export const queueMail = (ctx: Context, mail: NewMail) => queueMails(ctx, [mail]);

/** As `queueMail`, for several. */
export async function queueMails(ctx: Context, list: readonly NewMail[]): Promise<void> {
  if (list.length === 0) return;
  const now = ctx.now();
  await ctx.db.insert(mails).values(
    list.map(({ to, subject, text, userId }) => {
      const id = randomUUID();
      const bodySealed = encrypt(
        ctx.config.encryptionKeys,
        toStorableText(text, 100_000),
        columnAad('mails.body_sealed', id),
      );
      return { id, userId, recipient: to, subject: oneLine(subject), bodySealed, nextAttemptAt: now, createdAt: now };
    }),
  );
}

/**
 * Queues a password reset for an address as it is stored, whether or not it has an account: nothing is looked up, so
 * neither the answer nor its time can tell (security T11). Account, token and text are found when it is sent.
 */
export async function queueReset(ctx: Context, address: SQL, subject: string): Promise<void> {
  const now = ctx.now();
  const kind = 'password_reset' as const;
  await ctx.db
    .insert(mails)
    .values({ id: randomUUID(), kind, recipient: address, subject, nextAttemptAt: now, createdAt: now });
}

/** Opens the body of a mail that waits. Throws when its sealing key is gone. */
export const decryptBody = (ctx: Context, id: string, sealed: string) =>
  decrypt(ctx.config.encryptionKeys, sealed, columnAad('mails.body_sealed', id));

const oneLine = (text: string) => toStorableText(text.replace(/[\p{Cc}\s]+/gu, ' ').trim(), 200);
