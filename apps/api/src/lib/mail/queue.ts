import { randomUUID } from 'node:crypto';
import { toOneLine, toStorableText } from '@carillon/contract/validation/unsafe-values';
import { type Db, mails } from '@carillon/db';
import type { SQL } from 'drizzle-orm';
import type { Config } from '../config/config.ts';
import { columnAad, decrypt, encrypt } from '../crypto/encryption.ts';

const MAX_SUBJECT_CHARACTERS = 200;
const MAX_TEXT_CHARACTERS = 100_000;

export interface QueueContext {
  db: Db;
  now(): Date;
  config: Pick<Config, 'encryptionKeys'>;
}

export interface NewMail {
  to: string;
  subject: string;
  text: string;
  /** The mail is deleted with this account. */
  userId?: number;
  alertId?: number;
}

/** Sends at least once after the commit of the caller's transaction. */
export const queueMail = (ctx: QueueContext, mail: NewMail) => queueMails(ctx, [mail]);

export async function queueMails(ctx: QueueContext, list: readonly NewMail[]): Promise<void> {
  if (list.length === 0) return;
  const now = ctx.now();
  await ctx.db.insert(mails).values(
    list.map(({ to, subject, text, userId, alertId }) => {
      const id = randomUUID();
      return {
        id,
        userId,
        alertId,
        recipient: to,
        subject: toStorableText(toOneLine(subject), MAX_SUBJECT_CHARACTERS),
        bodyEncrypted: encryptBody(ctx, id, toStorableText(text, MAX_TEXT_CHARACTERS)),
        nextAttemptAt: now,
        createdAt: now,
      };
    }),
  );
}

/** Without a lookup: neither the answer nor its time shows whether the account exists. */
export async function queueReset(ctx: QueueContext, address: SQL, subject: string): Promise<void> {
  const now = ctx.now();
  await ctx.db.insert(mails).values({
    id: randomUUID(),
    kind: 'password_reset',
    recipient: address,
    subject,
    nextAttemptAt: now,
    createdAt: now,
  });
}

const encryptBody = ({ config }: QueueContext, id: string, text: string) =>
  encrypt(config.encryptionKeys, text, columnAad('mails.body_encrypted', id));

/** Throws if the encryption key is no longer configured. */
export const decryptBody = ({ config }: Pick<QueueContext, 'config'>, id: string, ciphertext: string): string =>
  decrypt(config.encryptionKeys, ciphertext, columnAad('mails.body_encrypted', id));
