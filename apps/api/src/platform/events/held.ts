import { ALERT_KINDS } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';

/** Notifications that an urgent channel sends at once: alerts of tasks, of usage and of the scheduler. */
export const URGENT_KINDS = [...ALERT_KINDS, 'usage.alert', 'scheduler.silent'] as const;

/** Whether a row `h` of `webhooks` is a channel that does not send at once. Urgent ones send alerts in spite of that. */
export const isHeldSql = (isUrgent: SQL): SQL =>
  sql`(num_nonnulls(h.quiet, h.min_interval_minutes) > 0 or h.digest <> 'off') and not (h.urgent and ${isUrgent})`;

/** Whether a row `d` of `deliveries` is one that urgent channels send at once. */
export const isUrgentSql = sql`(${isOneOf(sql`d.event`, ALERT_KINDS)}
  or d.event = 'notification' and ${isOneOf(sql`(d.payload::json -> 'data' ->> 'kind')`, URGENT_KINDS)})`;

/** Whether a word of SQL is one of `kinds`. */
export function isOneOf(word: SQL, kinds: readonly string[]): SQL {
  return sql`${word} = any(${`{${kinds.join(',')}}`}::text[])`;
}
