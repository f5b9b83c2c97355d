import { ALERT_KINDS } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';

/** Notifications that are alarms although they are no alerts of a task. */
export const ALARM_NOTICES = [...ALERT_KINDS, 'usage.alert', 'scheduler.silent'] as const;

/** Whether a row `h` of `webhooks` is a channel that does not send at once. Urgent ones send alarms in spite of that. */
export const isHeldSql = (isAlarm: SQL): SQL =>
  sql`(num_nonnulls(h.quiet, h.min_interval_minutes) > 0 or h.digest <> 'off') and not (h.urgent and ${isAlarm})`;

/** Whether a row `d` of `deliveries` is an alarm. */
export const isAlarmSql = sql`(${isOneOf(sql`d.event`, ALERT_KINDS)}
  or d.event = 'notification' and ${isOneOf(sql`(d.payload::json -> 'data' ->> 'kind')`, ALARM_NOTICES)})`;

/** Whether a word of SQL is one of `kinds`. */
export function isOneOf(word: SQL, kinds: readonly string[]): SQL {
  return sql`${word} = any(${`{${kinds.join(',')}}`}::text[])`;
}
