import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, smallint, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant } from './columns.ts';

/** Requests with an `Idempotency-Key`: claimed while they run, and with their answer once they have succeeded. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** `<user id>:<SHA-256 of method, route, parameters and key>`. */
    id: text().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** Only its holder may store an answer. */
    claimToken: uuid('claim_token').notNull(),
    /** By the clock of the database, in full precision: compared with the start of its connections. */
    claimedAt: timestamp('claimed_at', { withTimezone: true, mode: 'date' }).notNull(),
    leaseUntil: instant('lease_until').notNull(),
    /** The connection that made the claim: when it is gone, so is the process. Null if only the lease counts. */
    backendPid: integer('backend_pid'),
    /** Null until the request has succeeded. */
    status: smallint(),
    location: text(),
    /** The body and the fingerprint of the request. */
    answerEncrypted: text('answer_encrypted'),
    /** Of the body before it was encrypted; 0 where it was too large, and only the fingerprint is stored. */
    answerBytes: integer('answer_bytes').notNull().default(0),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [
    index('idempotency_keys_user').on(t.userId, t.answerBytes),
    index('idempotency_keys_expiry').on(t.expiresAt),
    check('idempotency_keys_answer', sql`(${t.status} is null) = (${t.answerEncrypted} is null)`),
  ],
);
